"""A whole case: the Marquee as declared, and the facts that were read from its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mqctl.config.durations import parse_duration
from mqctl.host.facts import Container, Facts, Network
from mqctl.host.git import Tips
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
    Registry,
    Status,
)
from mqctl.phases.base import Selection, View
from mqctl.phases.rest import tombstone_of
from mqctl.secret import SecretRef
from tests.phases.notation.containers import row
from tests.phases.notation.projects import KEYS, Part, part_of
from tests.phases.notation.values import (
    FENCE,
    FLEET,
    HEAD,
    MARQUEE,
    MOMENT,
    NOW,
    SHOP,
    NotationError,
    Tree,
    at,
    image_id,
    only,
)

_PLAYGROUND = {
    *("hold", "status", "ttl", "expires", "pull_policy", "persist_volumes", "checkouts"),
    *("registries", "tombstone"),
}
_CHAT = {"status", "image", "health_url", "health"}
_STRAY = {"name", "since"}
_CASE = {
    *("playgrounds", "chats", "strays", "others", "images", "failed_images", "disk_free"),
    *("pulled", "networks", "seen", "tips", "policy", "select", "fence", "tombstones", "unused"),
}
_LABELS = {"mqctl.fleet": FLEET, "mqctl.marquee": MARQUEE}


def view_of(case: Tree) -> View:
    """All that a plan may look at in this case."""
    only(_CASE, case, "case")
    images = {key: None if word == "absent" else image_id(word) for key, word in case.get("images", {}).items()}
    playgrounds = [_playground(name, one or {}) for name, one in _given(case, "playgrounds")]
    chats = [_chat(name, one or {}) for name, one in _given(case, "chats")]
    parts = [
        *(_part(one.project, spec or {}, _PLAYGROUND, {"mqctl.playground": one.name}, images)
          for one, (_, spec) in zip(playgrounds, _given(case, "playgrounds"), strict=True)),
        *(_part(one.project, {**_agent(one), **(spec or {})}, _CHAT,
                {"mqctl.agent-chat": one.name}, images)
          for one, (_, spec) in zip(chats, _given(case, "chats"), strict=True)),
        *(_stray(name, spec or {}, images) for name, spec in _given(case, "strays")),
    ]  # fmt: skip
    marquee = Marquee(
        MARQUEE,
        FLEET,
        host="docker1.example.com",
        user="deploy",
        policy=_policy(case.get("policy", {})),
        playgrounds=tuple(playgrounds),
        agent_chats=tuple(chats),
    )
    select = dict(case.get("select", {}))
    if "approved" in select:
        select["approved"] = frozenset(select["approved"])
    return View(
        marquee,
        _facts(case, parts, playgrounds, images),
        MOMENT,
        fence=case.get("fence", FENCE),
        select=Selection(**select),
        inputs={one.name: one.inputs for one in parts if one.inputs},
        tips={prop: _tips(said) for prop, said in case.get("tips", {}).items()},
        failed_images=case.get("failed_images", {}),
        health=_health(case, chats),
        seen=_seen(case, parts),
    )


def _given(case: Tree, kind: str) -> list[tuple[str, Tree | None]]:
    return list((case.get(kind) or {}).items())


def _part(
    name: str, spec: Tree, declared: set[str], label: Mapping[str, str], images: Mapping[str, str]
) -> Part:
    only(KEYS | declared, spec, name)
    inner = {key: value for key, value in spec.items() if key in KEYS}
    if spec.get("checkouts"):
        inner["git"] = {**dict.fromkeys(spec["checkouts"], "clean"), **spec.get("git", {})}
    return part_of(name, inner, labels={**_LABELS, **label}, images=images)


def _stray(name: str, spec: Tree, images: Mapping[str, str]) -> Part:
    only(KEYS | _STRAY, spec, name)
    inner = {key: value for key, value in spec.items() if key in KEYS}
    project = spec.get("name", f"{FLEET}_{MARQUEE}_{name}")
    part = part_of(project, inner, labels={**_LABELS, "mqctl.playground": name}, images=images)
    since = {f"orphan/{project}": NOW - parse_duration(spec.get("since", "1h"))}
    return replace(part, seen={**part.seen, **since}, inputs=None)


def _playground(name: str, spec: Tree) -> Playground:
    checkouts = spec.get("checkouts") or {}
    props = {key: replace(SHOP, **((one or {}).get("prop") or {})) for key, one in checkouts.items()}
    return Playground(
        name,
        f"{FLEET}_{MARQUEE}_{name}",
        Playspec(
            f"{name}-spec",
            ComposeFile("/srv/compose.yaml"),
            checkouts=props,
            registries=tuple(_registry(one) for one in spec.get("registries", ())),
            pull_policy=PullPolicy(spec.get("pull_policy", "missing")),
            persist_volumes=spec.get("persist_volumes", False),
        ),
        checkouts=tuple(
            Checkout(key, props[key], (one or {}).get("branch", "main"), (one or {}).get("follow", True))
            for key, one in checkouts.items()
        ),
        ttl=parse_duration(spec["ttl"]) if "ttl" in spec else None,
        expires_at=at(spec["expires"]) if "expires" in spec else None,
        status=Status(spec.get("status", "active")),
        hold=spec.get("hold", False),
    )  # fmt: skip


def _registry(name: str) -> Registry:
    return Registry(name, f"{name}.example.com", "bot", SecretRef(env=name.upper()))


def _chat(name: str, spec: Tree) -> AgentChat:
    return AgentChat(
        name,
        f"{FLEET}_{MARQUEE}_chat_{name}",
        image=spec.get("image", "acme/agent:1"),
        health_url=f"http://{name}.example.com/health" if spec.get("health_url") else None,
        status=Status(spec.get("status", "active")),
    )


def _agent(chat: AgentChat) -> Tree:
    return {"services": {"agent": {"image": chat.image}}}


def _health(case: Tree, chats: list[AgentChat]) -> dict[str, Health]:
    said = {name: (one or {}).get("health") for name, one in _given(case, "chats")}
    return {
        one.project: Health(Answer(said[one.name]), "as the case says")
        for one in chats
        if said[one.name]
    }


def _tips(said: Tree | str) -> Tips:
    if isinstance(said, str):
        return Tips(error=said)
    return Tips(branches={branch: HEAD if sha == "head" else sha for branch, sha in said.items()})


def _policy(said: Tree) -> Policy:
    return Policy(
        **{k: parse_duration(v) if isinstance(v, str) else v for k, v in said.items()}  # type: ignore[arg-type]  # rollout_budget is the one int
    )


def _seen(case: Tree, parts: list[Part]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        found |= part.seen
    found |= {f"unused/{image_id(k)}": NOW - parse_duration(v) for k, v in case.get("unused", {}).items()}
    return {k: v for k, v in found.items() if k not in case.get("seen", {}).get("forget", ())}  # fmt: skip


def _facts(
    case: Tree, parts: list[Part], playgrounds: list[Playground], images: Mapping[str, str | None]
) -> Facts:
    there: dict[str, str] = {}
    containers: list[Container] = []
    for part in parts:
        there |= part.images
        containers += part.containers
    there |= {reference: found for reference, found in images.items() if found}
    for name, one in _given(case, "others"):
        containers += _other(name, one or {}, there)
    return Facts(
        host_now=NOW,
        containers=tuple(containers),
        images=there,
        networks=tuple(_network(name, one or {}) for name, one in _given(case, "networks")),
        projects={one.name: one.directory for one in parts if one.directory},
        tombstones=_tombstones(case, playgrounds),
        pulled={image_id(word): NOW - 864000 for word in case.get("pulled", ())},
        disk_free=case.get("disk_free"),
    )


def _other(name: str, one: Tree, images: Mapping[str, str]) -> tuple[Container, ...]:
    """A container of somebody else: without labels, unless the case gives it some."""
    from mqctl.host.docker import parse_containers

    only({"is", "image", "ports", "labels", "made"}, one, name)
    line = row(
        name=name,
        image=one.get("image", "other:1"),
        state=one.get("is", "running"),
        ports=one.get("ports", []),
        labels=one.get("labels", {}),
    )
    return parse_containers(line, images)


def _network(name: str, one: Tree) -> Network:
    only({"project", "fleet", "marquee"}, one, name)
    return Network(
        f"id-of-{name}",
        name,
        one.get("project", ""),
        one.get("fleet", FLEET),
        one.get("marquee", MARQUEE),
    )


def _tombstones(case: Tree, playgrounds: list[Playground]) -> dict[str, Tombstone]:
    found: dict[str, Tombstone] = {}
    declared = {one.name: one for one in playgrounds}
    for name, spec in _given(case, "playgrounds"):
        terms = (spec or {}).get("tombstone")
        if terms is None:
            continue
        stone = tombstone_of(declared[name], 40, NOW - 3600)
        if terms == "other terms":
            stone = replace(stone, ttl=60.0, expires_at=None)
        elif terms != "same terms":
            raise NotationError(f"{name}: a tombstone has the same terms or other terms")
        found[declared[name].project] = stone
    for name in case.get("tombstones", ()):
        found[f"{FLEET}_{MARQUEE}_{name}"] = Tombstone(name, 60.0, None, 40, NOW - 3600)
    return found
