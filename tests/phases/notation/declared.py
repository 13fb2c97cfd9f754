"""The declared side of a case: Playgrounds, AgentChats and the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mqctl.config.durations import parse_duration
from mqctl.host.record import Tombstone
from mqctl.http import Answer, Health
from mqctl.model import (
    AgentChat,
    Checkout,
    ComposeFile,
    Marquee,
    Playground,
    Playspec,
    Policy,
    PullPolicy,
    Status,
)
from mqctl.phases.rest import tombstone_of
from tests.phases.notation.values import FLEET, MARQUEE, NOW, SHOP, NotationError, Tree, at, only

OF_PLAYGROUNDS = {
    *("hold", "status", "ttl", "expires", "pull_policy", "persist_volumes", "checkouts"),
    "tombstone",
}
OF_CHATS = {"status", "image", "health_url", "health"}


def marquee_of(playgrounds: list[Playground], chats: list[AgentChat], policy: Tree) -> Marquee:
    """The one Marquee of all cases."""
    bounds: dict[str, Any] = {
        key: parse_duration(value) if isinstance(value, str) else value
        for key, value in policy.items()
    }
    return Marquee(
        MARQUEE,
        FLEET,
        host="docker1.example.com",
        user="deploy",
        policy=Policy(**bounds),
        playgrounds=tuple(playgrounds),
        agent_chats=tuple(chats),
    )


def playground_of(name: str, given: Tree) -> Playground:
    """A Playground as the declared file has it."""
    checkouts = {key: _checkout(key, one or {}) for key, one in given.get("checkouts", {}).items()}
    return Playground(
        name,
        f"{FLEET}_{MARQUEE}_{name}",
        Playspec(
            f"{name}-spec",
            ComposeFile("/srv/compose.yaml"),
            checkouts={key: one.prop for key, one in checkouts.items()},
            pull_policy=PullPolicy(given.get("pull_policy", "missing")),
            persist_volumes=given.get("persist_volumes", False),
        ),
        checkouts=tuple(checkouts.values()),
        ttl=parse_duration(given["ttl"]) if "ttl" in given else None,
        expires_at=at(given["expires"]) if "expires" in given else None,
        status=Status(given.get("status", "active")),
        hold=given.get("hold", False),
    )


def _checkout(name: str, given: Tree) -> Checkout:
    only({"branch", "follow", "prop"}, given, f"checkout {name}")
    prop = replace(SHOP, **given.get("prop", {}))
    return Checkout(name, prop, given.get("branch", "main"), given.get("follow", True))


def chat_of(name: str, given: Tree) -> AgentChat:
    """An AgentChat as the declared file has it."""
    return AgentChat(
        name,
        f"{FLEET}_{MARQUEE}_chat_{name}",
        image=given.get("image", "acme/agent:1"),
        health_url=f"http://{name}.example.com/health" if given.get("health_url") else None,
        status=Status(given.get("status", "active")),
    )


def health_of(given: Tree) -> Health | None:
    """What its health URL answered, if it was asked."""
    said = given.get("health")
    return Health(Answer(said), "as the case says") if said else None


def tombstone_in(playground: Playground, given: Tree) -> Tombstone | None:
    """The tombstone of an earlier expiry, under the terms of now or others."""
    terms = given.get("tombstone")
    if terms is None:
        return None
    stone = tombstone_of(playground, 40, NOW - 3600)
    if terms == "same terms":
        return stone
    if terms == "other terms":
        return replace(stone, ttl=60.0, expires_at=None)
    raise NotationError(f"{playground.name}: a tombstone has the same terms or other terms")
