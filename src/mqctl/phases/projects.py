"""A Playground and an AgentChat as the same thing: a Compose project that mqctl makes.

An AgentChat of one image becomes a Compose file of one service, so that labels, records, images and
applies need no second way of doing everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mqctl.host.compose import CHAT_LABEL, PLAYGROUND_LABEL, Layout
from mqctl.model import (
    AgentChat,
    Checkout,
    ComposeFile,
    EnvValue,
    Marquee,
    Playground,
    PullPolicy,
    Registry,
)


@dataclass(frozen=True, slots=True)
class Project:
    """One Compose project to be. ``document`` is a Compose file that we write ourselves."""

    subject: str
    name: str
    labels: Mapping[str, str]
    layout: Layout
    compose: ComposeFile | None = None
    document: bytes = b""
    files: tuple[str, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    env: Mapping[str, EnvValue] = field(default_factory=dict)
    registries: tuple[Registry, ...] = ()
    pull_policy: PullPolicy = PullPolicy.MISSING

    @property
    def directory(self) -> str:
        """Where it is, relative to the Marquee's directory."""
        return f"projects/{self.name}"


def of_playground(marquee: Marquee, playground: Playground) -> Project:
    """The Compose project of a Playground."""
    spec = playground.playspec
    return Project(
        subject=f"playground/{playground.name}",
        name=playground.project,
        labels=_labels(marquee, PLAYGROUND_LABEL, playground.name),
        layout=Layout.of(spec.compose),
        compose=spec.compose,
        files=spec.files,
        checkouts=playground.checkouts,
        env=playground.env,
        registries=spec.registries,
        pull_policy=spec.pull_policy,
    )


def of_chat(marquee: Marquee, chat: AgentChat) -> Project:
    """The Compose project of an AgentChat; its images are looked up when it starts."""
    compose = chat.compose or ComposeFile("compose.yaml")
    return Project(
        subject=f"agent-chat/{chat.name}",
        name=chat.project,
        labels=_labels(marquee, CHAT_LABEL, chat.name),
        layout=Layout.of(compose),
        compose=chat.compose,
        document=b"" if chat.compose else _document(chat),
        env=chat.env,
        registries=chat.registries,
    )


def _labels(marquee: Marquee, kind: str, name: str) -> dict[str, str]:
    return {"mqctl.fleet": marquee.fleet, "mqctl.marquee": marquee.name, kind: name}


def _document(chat: AgentChat) -> bytes:
    service: dict[str, Any] = {
        "image": chat.image,
        "restart": chat.restart,
        "volumes": [{"type": "volume", "source": "data", "target": chat.data_path}],
        # Values come from the env file of the command, so that no secret is written down here.
        "environment": {name: f"${{{name}}}" for name in sorted(chat.env)},
    }
    if chat.command is not None:
        service["command"] = [word.replace("$", "$$") for word in chat.command]
    if chat.ports:
        service["ports"] = list(chat.ports)
    if chat.memory is not None:
        service["mem_limit"] = chat.memory
    if chat.cpus is not None:
        service["cpus"] = chat.cpus
    document = {"services": {"agent": service}, "volumes": {"data": {}}}
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"
