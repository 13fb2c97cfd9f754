"""What others run on the same host is in the way, is named, and is never touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.bed import Host
from tests.states.scenes import compose, cycle, labels, states
from tests.support.looks import container_ids
from tests.support.operators import Operator
from tests.support.ran import Ran

PORT = 18080
HOSTILE = "\x1b[2J\x1b]0;owned\x07\nanother line\r"
KEEP = ("--restart", "no", "nginx:alpine")


@dataclass
class Story:
    """One cycle among foreign containers, and what there was before and after it."""

    operator: Operator
    ran: Ran
    before: dict[str, str]
    after: dict[str, str]


@pytest.fixture(scope="module")
def story(resident: Operator) -> Iterator[Story]:
    """Somebody else was there first: with our project's name, a fixed name, and a port."""
    east = resident.hosts["east-1"]
    east.docker("pull", "-q", "nginx:alpine")
    resident.playspec("plain", compose("nginx:alpine"))
    resident.playspec("named", compose("nginx:alpine", container_name="fixed"))
    resident.playspec("port", compose("nginx:alpine", ports=[f"{PORT}:80"]))
    resident.playspec("udp", compose("nginx:alpine", ports=[f"{PORT}:80/udp"]))
    for name in ("plain", "named", "port", "udp"):
        resident.playground(name, name)
    project = ("--label", f"com.docker.compose.project={resident.project('plain')}")
    east.docker("run", "-d", "--name", "theirs", *project, *KEEP)
    east.docker("run", "-d", "--name", "fixed", *KEEP)
    east.docker("run", "-d", "--name", "listener", "-p", f"127.0.0.1:{PORT}:80", *KEEP)
    hostile = ("--label", f"com.docker.compose.project=evil{HOSTILE}")
    ours = ("--label", f"mqctl.fleet={resident.fleet}", "--label", "mqctl.marquee=east-1")
    east.docker("run", "-d", "--name", "hostile", *hostile, *ours, *KEEP)
    before = container_ids(east)
    ran = cycle(resident)
    yield Story(resident, ran, before, container_ids(east))
    east.docker("rm", "-f", "theirs", "fixed", "listener", "hostile", check=False)


@pytest.mark.parametrize(
    ("name", "reason", "whose"),
    [
        ("plain", "foreign", "mqctl did not make"),
        ("named", "name-taken", "fixed is taken by a container of no project"),
        ("port", "port-taken", f"port {PORT}/tcp is taken by listener"),
    ],
)
def test_what_is_in_the_way_is_named_and_counts_as_a_failure(
    story: Story, name: str, reason: str, whose: str
) -> None:
    assert story.ran.fate(f"playground/{name}") == ("skip", reason, "failed"), story.ran
    assert whose in story.ran.decision(f"playground/{name}")["detail"]
    assert (story.ran.code, story.ran.outcome()) == (1, "failed")


def test_the_same_number_over_another_protocol_is_not_in_the_way(story: Story) -> None:
    assert story.ran.fate("playground/udp") == ("up", "missing", "done")


def test_nothing_of_theirs_is_touched_and_nothing_is_sent_for_what_they_block(
    story: Story,
) -> None:
    made = set(story.after) - set(story.before)
    assert made == {f"{story.operator.project('udp')}-web-1"}
    assert {name: story.after[name] for name in story.before} == story.before
    about = {f"playground/{name}" for name in ("plain", "named", "port")}
    assert not [one for one in story.ran.events if one["event"] == "step.started"
                and one["subject"] in about and one["step"] in {"begin", "up"}]  # fmt: skip


def test_a_foreign_project_label_proves_nothing_and_reaches_no_terminal_raw(story: Story) -> None:
    subjects = [one["subject"] for one in story.ran.cycle()["decisions"]]
    [evil] = [subject for subject in subjects if subject.startswith("orphan/evil")]
    assert story.ran.fate(evil) == ("skip", "not-proven", "skipped")
    shown = story.operator.run("reconcile", "east-1", "--dry-run", "-o", "text")
    assert "orphan/evil" in shown.text
    for raw in ("\x1b", "\x07", "\r"):
        assert raw not in shown.text + shown.errors
    [line] = [line for line in shown.text.splitlines() if "orphan/evil" in line]
    assert "another line" in line


def test_labels_of_our_own_container_and_its_log_reach_no_terminal_raw(
    story: Story, east: Host
) -> None:
    operator = story.operator
    loud = "printf '\\033[2Jred\\n'; exit 1"
    service = {"entrypoint": ["sh", "-c", loud], "labels": {"note": HOSTILE}}
    operator.playspec("loud", compose("nginx:alpine", **service))
    operator.declared["marquees"]["east-1"]["playgrounds"] = {"loud": {"playspec": "loud"}}
    shown = operator.run(
        "reconcile", "east-1", "--playground", "east-1/loud", "--now", "-o", "text"
    )
    assert shown.code == 1, shown
    assert "red" in shown.text, shown
    assert "\x1b" not in shown.text + shown.errors
    assert states(east)[f"{operator.project('loud')}-web-1"] == "exited"


def test_it_comes_up_when_they_have_gone(story: Story, east: Host) -> None:
    operator = story.operator
    operator.declared["marquees"]["east-1"]["playgrounds"] = {
        name: {"playspec": name} for name in ("plain", "named", "port")
    }
    east.docker("rm", "-f", "theirs", "fixed", "listener")
    ran = cycle(operator, "--skip", "sweep")
    for name in ("plain", "named", "port"):
        assert ran.fate(f"playground/{name}") == ("up", "missing", "done"), ran
    assert labels(east, "fixed")
