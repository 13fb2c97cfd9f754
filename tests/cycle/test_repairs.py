"""Four Playgrounds run. One of them is disturbed, and exactly that one is repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.bed import Host
from tests.support.looks import container_ids
from tests.support.operators import Operator
from tests.support.ran import Ran

PAGE = "page/index.html"


def compose(image: str, **keys: object) -> dict[str, object]:
    return {"services": {"web": {"image": image, **keys}}}


@pytest.fixture(scope="module")
def settled(resident: Operator) -> Operator:
    """Four Playgrounds that run: of one file, with a shipped file, of a moving tag, of a commit."""
    registry, shop = resident.bed.registry, resident.bed.git.repo("acme/repairs")
    registry.push("acme/moving:1", marker="1")
    shop.commit({"README": "one\n", "conf/app.conf": "a\n"})
    resident.prop("shop", "acme/repairs")
    resident.playspec("plain", compose("nginx:alpine", environment={"LEVEL": "1"}))
    mounted = compose("nginx:alpine", volumes=["./page:/usr/share/page:ro"])
    resident.playspec("shipped", mounted, {PAGE: "one\n"})
    resident.playspec("moving", compose("acme/moving:1"), pull_policy="always")
    source = compose("nginx:alpine", volumes=["./app/conf:/conf:ro"])
    resident.playspec("checkout", source, checkouts={"app": {"prop": "shop"}})
    for name in resident.declared["playspecs"]:
        resident.playground(name, name)
    first = resident.reconcile()
    assert (first.code, first.outcome()) == (0, "changed"), first
    return resident


def stop_a_container(operator: Operator, east: Host) -> None:
    east.docker("stop", f"{operator.project('plain')}-web-1")


def edit_the_compose_file(operator: Operator, east: Host) -> None:
    del east
    edited = compose("nginx:alpine", environment={"LEVEL": "2"})
    operator.playspec("plain", edited)


def edit_a_shipped_file(operator: Operator, east: Host) -> None:
    del east
    (operator.folder / "shipped" / PAGE).write_text("two\n")


def move_the_tag(operator: Operator, east: Host) -> None:
    del east
    operator.bed.registry.push("acme/moving:1", marker="2")


def push_a_commit(operator: Operator, east: Host) -> None:
    del east
    operator.bed.git.repo("acme/repairs").commit({"conf/app.conf": "b\n"})


class Case(NamedTuple):
    """What is done, to which Playground, and what the output says about it."""

    disturb: Callable[[Operator, Host], None]
    name: str
    reason: str
    detail: str


@pytest.mark.parametrize(
    "case",
    [
        Case(stop_a_container, "plain", "exited", "plain-web-1: Exited (0)"),
        Case(edit_the_compose_file, "plain", "input-changed", "compose.yaml"),
        Case(edit_a_shipped_file, "shipped", "input-changed", PAGE),
        Case(move_the_tag, "moving", "image-moved", "web does not run acme/moving:1 as it is now"),
        Case(push_a_commit, "checkout", "commit-moved", "commit of app is "),
    ],
    ids=lambda case: case.disturb.__name__,
)
def test_exactly_the_disturbed_playground_is_repaired_and_the_output_says_why(
    settled: Operator, east: Host, case: Case
) -> None:
    before = container_ids(east)
    case.disturb(settled, east)
    repaired = settled.reconcile()
    assert (repaired.code, repaired.outcome()) == (0, "changed"), repaired
    subject = f"playground/{case.name}"
    assert repaired.fate(subject) == ("rollout", case.reason, "done")
    assert case.detail in repaired.decision(subject)["detail"]
    assert playgrounds_done(repaired) == {subject}
    after = container_ids(east)
    assert after.keys() == before.keys()
    other = {one for one in after if after[one] != before[one]}
    started_again = case.disturb is stop_a_container
    assert other == (set() if started_again else {f"{settled.project(case.name)}-web-1"})


def test_after_all_repairs_nothing_is_left_to_do(settled: Operator, east: Host) -> None:
    before = container_ids(east)
    quiet = settled.reconcile()
    assert (quiet.code, quiet.outcome()) == (0, "unchanged"), quiet
    assert container_ids(east) == before


def playgrounds_done(ran: Ran) -> set[str]:
    return {subject for _, subject in ran.done() if subject.startswith("playground/")}
