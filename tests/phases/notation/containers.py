"""Containers: written as ``exited 1``, read as the rows that Docker would print for them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mqctl.config.durations import parse_duration
from mqctl.host.docker import parse_containers
from mqctl.host.facts import Container
from tests.phases.notation.values import (
    NOW,
    NotationError,
    Tree,
    container_id,
    image_id,
    only,
)

_KEYS = {"is", "service", "name", "image", "ports", "one_off", "labels", "made", "up", "project"}


def row(
    *,
    name: str,
    image: str,
    state: str,
    ports: list[str],
    labels: Mapping[str, str],
    up: str = "3 hours",
    made: str = "2026-11-29 12:00:00 +0000 UTC",
) -> str:
    """One line of ``docker ps``, in the fields and the order that mqctl asks for."""
    word, _, detail = state.partition(" ")
    states = {
        "running": ("running", f"Up {up}"),
        "healthy": ("running", f"Up {up} (healthy)"),
        "starting": ("running", f"Up {up} (health: starting)"),
        "unhealthy": ("running", f"Up {up} (unhealthy)"),
        "exited": ("exited", f"Exited ({detail or 0}) 5 minutes ago"),
        "restarting": ("restarting", "Restarting (1) 2 seconds ago"),
        "paused": ("paused", f"Up {up} (Paused)"),
        "created": ("created", "Created"),
        "dead": ("dead", "Dead"),
        "removing": ("removing", "Removal In Progress"),
    }
    if word not in states:
        raise NotationError(f"{name}: {word} is no state of a container; {sorted(states)}")
    published = [published_port(port) for port in ports] if states[word][0] == "running" else []
    values = (
        *(container_id(name), name, image, *states[word], made, ", ".join(published)),
        *(labels.get(label, "") for label in LABELS),
    )
    return " ".join(json.dumps(value) for value in values)


LABELS = (
    "com.docker.compose.project",
    "com.docker.compose.service",
    "com.docker.compose.oneoff",
    "mqctl.fleet",
    "mqctl.marquee",
    "mqctl.playground",
    "mqctl.agent-chat",
)


def port_of(text: str | int) -> tuple[int, str, str]:
    """``127.0.0.1:53/udp`` as number, protocol and address."""
    address, _, rest = str(text).rpartition(":")
    number, _, protocol = rest.partition("/")
    return int(number), protocol or "tcp", address


def published_port(text: str | int) -> str:
    """The same as ``docker ps`` prints it."""
    number, protocol, address = port_of(text)
    return f"{address or '0.0.0.0'}:{number}->{number}/{protocol}"


def containers_of(
    given: Tree,
    *,
    defaults: Tree,
    prefix: str,
    labels: Mapping[str, str],
    images: Mapping[str, str],
) -> tuple[tuple[Container, ...], dict[str, float]]:
    """The containers of one project, and since when (seconds) the unhealthy ones are that."""
    lines: list[str] = []
    since: dict[str, float] = {}
    for key, said in given.items():
        one: Tree = {"is": said} if isinstance(said, str) else dict(said)
        only(_KEYS, one, f"container {key}")
        state, service = str(one.get("is", "running")), one.get("service", key)
        name = one.get("name", f"{prefix}{key}-1")
        usual = defaults.get(service) or {}
        own = {
            LABELS[0]: prefix.rstrip("-"),
            LABELS[1]: service,
            LABELS[2]: str(bool(one.get("one_off"))),
        }
        lines.append(
            row(
                name=name,
                image=image_id(one["image"]) if "image" in one else usual.get("image", "other:1"),
                state=state,
                ports=one.get("ports", usual.get("ports", [])),
                labels={**own, **labels, **one.get("labels", {})},
                **{key: one[key] for key in ("up", "made") if key in one},
            )
        )
        if state.startswith("unhealthy "):
            since[container_id(name)] = NOW - parse_duration(state.partition(" ")[2])
    return parse_containers("\n".join(lines), images), since
