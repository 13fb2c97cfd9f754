"""Whatever a slip does to the declared file: a sweep removes nothing by mistake."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mqctl.config.load import load
from mqctl.config.problems import ConfigErrors
from mqctl.host.facts import Container, Facts, ProjectFacts
from mqctl.host.record import Marker
from mqctl.model import Fleet
from mqctl.phases.base import Action, Selection, View
from mqctl.phases.sweep import MANY, SweepPhase

NAMES = [f"site-{number}" for number in range(8)]
TEXT = "\n".join(
    [
        "version: 1",
        "fleet: acme",
        "redis: {url: redis://localhost:6379/0}",
        "playspecs:",
        "  web:",
        "    compose_file: compose.yaml",
        "marquees:",
        "  east-1:",
        "    host: docker1.example.com",
        "    user: deploy",
        "    playgrounds:",
        *(f"      {name}: {{playspec: web}}" for name in NAMES),
        "",
    ]
)
SEED = int(os.environ.get("MQCTL_SEED", "20261130"))
EDITS = 300


def running(fleet: Fleet) -> Facts:
    """Everything that the right file declares runs, and carries all three proofs."""
    (marquee,) = fleet.marquees
    projects = [one.project for one in marquee.playgrounds]
    return Facts(
        host_now=1e9,
        containers=tuple(
            Container(
                id=f"id-{project}",
                name=f"{project}-web-1",
                image="nginx",
                state="running",
                status="Up 2 days",
                project=project,
                service="web",
                fleet=fleet.name,
                marquee=marquee.name,
                playground=project.rpartition("_")[2],
            )
            for project in projects
        ),
        projects={
            project: ProjectFacts(
                project,
                marker=Marker(fleet.name, marquee.name, project),
                entries=frozenset({".mqctl", "compose.yaml"}),
            )
            for project in projects
        },
    )


def slips() -> Iterator[str]:
    """Empty, truncated at every character of interest, lines lost, doubled, swapped, renamed."""
    lines = TEXT.splitlines(keepends=True)
    yield ""
    yield TEXT.replace("acme", "acne")
    yield TEXT.replace("east-1", "east-2")
    yield from ("".join(lines[:end]) for end in range(len(lines)))
    chance = random.Random(SEED)  # noqa: S311 - a replayable test
    yield from (TEXT[: chance.randrange(len(TEXT))] for _ in range(EDITS))
    for _ in range(EDITS):
        edited = list(lines)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(edited))
            match chance.choice(["lose", "double", "swap", "letter"]):
                case "lose":
                    del edited[place]
                case "double":
                    edited.insert(place, edited[place])
                case "swap":
                    other = chance.randrange(len(edited))
                    edited[place], edited[other] = edited[other], edited[place]
                case _:
                    edited[place] = edited[place].replace(chance.choice("aeiost"), "x", 1)
        yield "".join(edited)


def removed(text: str, folder: Path, facts: Facts, *, at_once: bool) -> tuple[set[str], set[str]]:
    """The projects that a sweep with this file would remove, and what the file declares."""
    path = folder / "marquees.yaml"
    path.write_text(text)
    try:
        fleet = load(path, {})
    except ConfigErrors:
        return set(), set()  # refused whole, before anything is touched
    gone: set[str] = set()
    declared: set[str] = set()
    for marquee in fleet.marquees:
        select = Selection(at_once=at_once)
        view = View(marquee, facts, datetime.now(UTC), fence=2, select=select)
        plan = SweepPhase().plan(replace(view, seen={}))
        gone |= {one.key for one in plan if isinstance(one, Action)}
        declared |= {one.project for one in marquee.playgrounds}
    return gone, declared


@pytest.fixture
def right(tmp_path: Path) -> Facts:
    """What runs while the file is right."""
    (tmp_path / "compose.yaml").write_text("services: {web: {image: nginx}}\n")
    (tmp_path / "marquees.yaml").write_text(TEXT)
    return running(load(tmp_path / "marquees.yaml", {}))


def test_the_right_file_removes_nothing(tmp_path: Path, right: Facts) -> None:
    gone, declared = removed(TEXT, tmp_path, right, at_once=True)
    assert not gone
    assert len(declared) == len(NAMES)


def test_no_slip_removes_anything_in_the_cycle_that_first_sees_it(
    tmp_path: Path, right: Facts
) -> None:
    for text in slips():
        assert not removed(text, tmp_path, right, at_once=False)[0], text


def test_a_slip_never_removes_what_is_declared_nor_most_of_what_is_there(
    tmp_path: Path, right: Facts
) -> None:
    for text in slips():
        gone, declared = removed(text, tmp_path, right, at_once=True)
        assert not gone & declared, text
        assert len(gone) <= MANY or 2 * len(gone) <= len(NAMES), text
        assert declared or not gone, text


@pytest.mark.parametrize("wrong", [("acme", "acne"), ("east-1", "east-2")])
def test_a_wrong_fleet_or_a_renamed_marquee_touches_nothing(
    tmp_path: Path, right: Facts, wrong: tuple[str, str]
) -> None:
    gone, declared = removed(TEXT.replace(*wrong), tmp_path, right, at_once=True)
    assert not gone
    assert len(declared) == len(NAMES)
