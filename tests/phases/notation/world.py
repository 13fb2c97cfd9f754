"""A whole case: the Marquee as declared, and the facts that were read from its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mqctl.config.durations import parse_duration
from mqctl.host.docker import parse_containers
from mqctl.host.facts import Container, Facts, Network
from mqctl.host.git import Tips
from mqctl.host.record import Tombstone
from mqctl.phases.base import Selection, View
from tests.phases.notation import declared
from tests.phases.notation.containers import row
from tests.phases.notation.projects import KEYS, Part, part_of
from tests.phases.notation.values import (
    FENCE,
    FLEET,
    HEAD,
    MARQUEE,
    MOMENT,
    NOW,
    Tree,
    image_id,
    only,
)

_KEYS = {
    *("playgrounds", "chats", "strays", "others", "images", "failed_images", "disk_free"),
    *("pulled", "unused", "networks", "tombstones", "forget", "tips", "policy", "select", "fence"),
}
_OF_STRAYS = {"name", "since"}
_LABELS = {"mqctl.fleet": FLEET, "mqctl.marquee": MARQUEE}
_ABSENT = "absent"


def view_of(case: Tree) -> View:
    """All that a plan may look at in this case."""
    only(_KEYS, case, "case")
    world = _World(case)
    playgrounds = {n: declared.playground_of(n, g) for n, g in world.given("playgrounds").items()}
    chats = {n: declared.chat_of(n, g) for n, g in world.given("chats").items()}
    parts = [
        *(world.playground(one.project, name) for name, one in playgrounds.items()),
        *(world.chat(one.project, name, one.image) for name, one in chats.items()),
        *(world.stray(name) for name in world.given("strays")),
    ]
    stones = {
        one.project: stone
        for name, one in playgrounds.items()
        if (stone := declared.tombstone_in(one, world.given("playgrounds")[name]))
    }
    select = dict(case.get("select", {}))
    if "approved" in select:
        select["approved"] = frozenset(select["approved"])
    answers = {
        one.project: declared.health_of(world.given("chats")[name]) for name, one in chats.items()
    }
    return View(
        declared.marquee_of(
            list(playgrounds.values()), list(chats.values()), case.get("policy", {})
        ),
        world.facts(parts, stones),
        MOMENT,
        fence=case.get("fence", FENCE),
        select=Selection(**select),
        inputs={one.name: one.inputs for one in parts if one.inputs},
        tips={prop: _tips(said) for prop, said in case.get("tips", {}).items()},
        failed_images=case.get("failed_images", {}),
        health={project: health for project, health in answers.items() if health},
        seen=world.first_sights(parts),
    )


@dataclass(frozen=True, slots=True)
class _World:
    case: Tree

    def given(self, kind: str) -> dict[str, Tree]:
        return {name: one or {} for name, one in (self.case.get(kind) or {}).items()}

    @property
    def images(self) -> dict[str, str | None]:
        """Ids that the case gives to references; None where it says that there is no image."""
        told = self.case.get("images", {})
        return {key: None if word == _ABSENT else image_id(word) for key, word in told.items()}

    # ------------------------------------------------------------------- the projects

    def playground(self, project: str, name: str) -> Part:
        given = self.given("playgrounds")[name]
        only(KEYS | declared.OF_PLAYGROUNDS, given, name)
        inner = {key: value for key, value in given.items() if key in KEYS}
        if given.get("checkouts"):
            inner["git"] = {**dict.fromkeys(given["checkouts"], "clean"), **given.get("git", {})}
        labels = {**_LABELS, "mqctl.playground": name}
        return part_of(project, inner, labels=labels, images=self.images)

    def chat(self, project: str, name: str, image: str | None) -> Part:
        given = self.given("chats")[name]
        only(KEYS | declared.OF_CHATS, given, name)
        inner = {key: value for key, value in given.items() if key in KEYS}
        inner = {"services": {"agent": {"image": image}}, **inner}
        labels = {**_LABELS, "mqctl.agent-chat": name}
        return part_of(project, inner, labels=labels, images=self.images)

    def stray(self, name: str) -> Part:
        """A project that nothing declares, seen as such for an hour."""
        given = self.given("strays")[name]
        only(KEYS | _OF_STRAYS, given, name)
        inner = {key: value for key, value in given.items() if key in KEYS}
        project = given.get("name", f"{FLEET}_{MARQUEE}_{name}")
        labels = {**_LABELS, "mqctl.playground": name}
        part = part_of(project, inner, labels=labels, images=self.images)
        since = NOW - parse_duration(given.get("since", "1h"))
        return replace(part, seen={**part.seen, f"orphan/{project}": since}, inputs=None)

    # ------------------------------------------------------------------- the rest of the host

    def facts(self, parts: list[Part], stones: Mapping[str, Tombstone]) -> Facts:
        images: dict[str, str] = {}
        for part in parts:
            images |= part.images
        images |= {reference: found for reference, found in self.images.items() if found}
        containers = [one for part in parts for one in part.containers]
        for name, other in self.given("others").items():
            containers += self._other(name, other, images)
        left = (f"{FLEET}_{MARQUEE}_{name}" for name in self.case.get("tombstones", ()))
        return Facts(
            host_now=NOW,
            containers=tuple(containers),
            images=images,
            networks=tuple(_network(name, one) for name, one in self.given("networks").items()),
            projects={one.name: one.directory for one in parts if one.directory},
            tombstones={**stones, **{one: Tombstone(one, 60.0, None, 40, NOW) for one in left}},
            pulled={image_id(word): NOW - 864000 for word in self.case.get("pulled", ())},
            disk_free=self.case.get("disk_free"),
        )

    def _other(self, name: str, one: Tree, images: Mapping[str, str]) -> tuple[Container, ...]:
        """A container of somebody else: without labels, unless the case gives it some."""
        only({"is", "image", "ports", "labels"}, one, name)
        line = row(
            name=name,
            image=one.get("image", "other:1"),
            state=one.get("is", "running"),
            ports=one.get("ports", []),
            labels=one.get("labels", {}),
        )
        return parse_containers(line, images)

    def first_sights(self, parts: list[Part]) -> dict[str, float]:
        """Since when something has been as it is."""
        found = {subject: since for part in parts for subject, since in part.seen.items()}
        for word, age in self.case.get("unused", {}).items():
            found[f"unused/{image_id(word)}"] = NOW - parse_duration(age)
        forgotten = self.case.get("forget", ())
        return {subject: since for subject, since in found.items() if subject not in forgotten}


def _tips(said: Tree | str) -> Tips:
    if isinstance(said, str):
        return Tips(error=said)
    return Tips(branches={branch: HEAD if sha == "head" else sha for branch, sha in said.items()})


def _network(name: str, one: Tree) -> Network:
    only({"project", "fleet", "marquee"}, one, name)
    return Network(
        f"id-of-{name}",
        name,
        one.get("project", ""),
        one.get("fleet", FLEET),
        one.get("marquee", MARQUEE),
    )
