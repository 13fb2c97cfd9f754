"""One Compose project in the notation: what it resolved to, what runs, and what the record says.

Everything has a default, and the defaults together are a project that is as declared: one service
``web`` of ``nginx:1``, applied an hour ago, running. A case says only what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqctl.host.facts import Container, GitState, ProjectFacts
from mqctl.host.record import Applied, Attempt, Failure, Marker, Record, Service, Staged
from mqctl.phases.inputs import Inputs, digest
from tests.phases.notation.containers import containers_of, port_of
from tests.phases.notation.values import (
    FLEET,
    HEAD,
    MARQUEE,
    NOW,
    SHOP,
    NotationError,
    Tree,
    ago,
    image_id,
    only,
)

_SERVICE = {"image", "build", "scale", "name", "ports"}
_RECORD = {
    *("applied", "one_shots", "ran", "shipped", "failure", "begun", "attempted", "repaired"),
    *("first_applied", "stopped", "record", "staged", "changed", "error", "tried"),
}
_DIRECTORY = {"directory", "marker", "entries", "broken", "hold_file", "tampered", "git"}
KEYS = {*_RECORD, *_DIRECTORY, "services", "containers", "labels", "unknown", "input_error"}
_INPUTS = {"recipe": "1", "env": "e1", "file:compose.yaml": "c1"}


@dataclass(frozen=True, slots=True)
class Part:
    """What one project adds to the facts and to the view."""

    name: str
    containers: tuple[Container, ...] = ()
    directory: ProjectFacts | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, float] = field(default_factory=dict)
    inputs: Inputs | None = None


def part_of(
    name: str, given: Tree, *, labels: Mapping[str, str], images: Mapping[str, str | None]
) -> Part:
    """A project from its notation; ``images`` are ids that the case gives to references."""
    only(KEYS, given, name)
    services: dict[str, Tree] = given.get("services", {"web": {"image": "nginx:1"}})
    for service, one in services.items():
        only(_SERVICE, one, f"{name}: {service}")
    ids = {
        one["image"]: images.get(one["image"]) or image_id(one["image"])
        for one in services.values()
        if "image" in one
    }
    usual: Tree = {
        key: {"is": "running", **({"name": one["name"]} if "name" in one else {})}
        for key, one in services.items()
        if one.get("scale", 1)
    }
    containers, unhealthy = containers_of(
        given.get("containers", usual),
        defaults=services,
        prefix=f"{name}-",
        labels={**labels, **given.get("labels", {})},
        images=ids,
    )
    return Part(
        name,
        containers,
        None if given.get("directory", "ours") == "none" else _directory(name, given, services),
        {key: one for key, one in ids.items() if images.get(key, "there") is not None},
        unhealthy,
        Inputs(unknown=given.get("unknown", ""), error=given.get("input_error", "")),
    )


def resolved(services: Mapping[str, Tree]) -> dict[str, Service]:
    """The services as the record keeps them."""
    return {
        name: Service(
            image=one.get("image", ""),
            build=one.get("build", False),
            scale=one.get("scale", 1),
            container_name=one.get("name", ""),
            ports=tuple(port_of(port) for port in one.get("ports", ())),
        )
        for name, one in services.items()
    }


def _directory(name: str, given: Tree, services: Mapping[str, Tree]) -> ProjectFacts:
    checkouts = {
        key: state for key, said in given.get("git", {}).items() if (state := git_state(said))
    }
    record = None if given.get("record") == "none" else _record(given, services, checkouts)
    hashes = {}
    if record and record.applied:
        for path in record.applied.shipped:
            hashes[path] = record.applied.inputs[f"file:{path}"]
    hashes |= dict.fromkeys(given.get("tampered", ()), "by-hand")
    usual = [".mqctl", "compose.yaml", *checkouts]
    return ProjectFacts(
        name,
        marker=_marker(name, given.get("marker", "ours")),
        record=record,
        broken=given.get("broken", ""),
        hold=given.get("hold_file"),
        entries=frozenset(given.get("entries", usual)),
        hashes=hashes,
        checkouts=checkouts,
    )


def _marker(name: str, whose: str) -> Marker | None:
    markers = {
        "ours": Marker(FLEET, MARQUEE, name),
        "other fleet": Marker("other", MARQUEE, name),
        "other marquee": Marker(FLEET, "west-1", name),
        "other project": Marker(FLEET, MARQUEE, f"{name}-2"),
        "none": None,
    }
    if whose not in markers:
        raise NotationError(f"{name}: no marker is called {whose}; {sorted(markers)}")
    return markers[whose]


def git_state(said: str | Tree) -> GitState | None:
    """A checkout in a word, or with its fields; None when it is not there."""
    clean = {"head": HEAD, "branch": "main", "tip": HEAD, "origin": SHOP.repository_url}
    words: dict[str, Tree] = {
        "clean": {},
        "dirty": {"changes": 1},
        "ahead": {"local_commits": 2, "ahead": 2},
        "behind": {"behind": 3},
        "diverged": {"local_commits": 1, "ahead": 1, "behind": 3},
        "detached": {"branch": ""},
        "merging": {"operation": "merge"},
        "hidden": {"hidden": 1},
        "unreadable": {"error": "fatal: bad object HEAD"},
    }
    if said == "missing":
        return None
    changes = words[said] if isinstance(said, str) else said
    return GitState(**{**clean, **changes})


def _record(given: Tree, services: Mapping[str, Tree], checkouts: Mapping[str, GitState]) -> Record:
    commits = {f"commit:{name}": state.head for name, state in checkouts.items()}
    after = {**_INPUTS, **commits}
    before = {**after, **dict.fromkeys(given.get("changed", ()), "before")}
    staged = Staged("base", digest(after), after, (), resolved(services), (), "", "")
    if "error" in given:
        staged = Staged("base", digest(after), after, error=given["error"])
    applied_at = ago(given.get("applied", "1h"))
    begun = given.get("begun")
    repaired = ago(given.get("repaired"))
    return Record(
        salt="5a17",
        staged=None if given.get("staged") == "never" else staged,
        applied=_applied(given, services, before, applied_at),
        begun=None if begun is None else Attempt(staged.digest, begun, NOW - 90),
        failure=_failure(given.get("failure"), staged.digest, given.get("tried", {})),
        first_applied_at=ago(given["first_applied"]) if "first_applied" in given else applied_at,
        last_attempt_at=ago(given["attempted"]) if "attempted" in given else applied_at,
        last_repair_at=repaired,
        stopped=given.get("stopped", False),
    )


def _applied(
    given: Tree, services: Mapping[str, Tree], inputs: Mapping[str, str], at: float | None
) -> Applied | None:
    if at is None:
        return None
    ran = {name: image_id(one["image"]) for name, one in services.items() if "image" in one}
    ran |= {name: image_id(word) for name, word in given.get("ran", {}).items()}
    return Applied(
        digest=digest(inputs),
        inputs=inputs,
        services=resolved(services),
        images=ran,
        one_shots=tuple(given.get("one_shots", ())),
        shipped=tuple(given.get("shipped", ("compose.yaml",))),
        fence=40,
        at=at,
    )


def _failure(said: str | None, staged: str, images: Mapping[str, str]) -> Failure | None:
    """``STEP AGO [final] [other]``; ``other``: it was another input that failed."""
    if said is None:
        return None
    step, when, *flags = said.split()
    only({"final", "other"}, dict.fromkeys(flags), "failure")
    moment = ago(when)
    assert moment is not None
    tried = "another input" if "other" in flags else staged
    ids = {service: image_id(word) for service, word in images.items()}
    return Failure(tried, step, f"{step}: it broke", moment, "final" in flags, ids)
