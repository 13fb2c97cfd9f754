"""Whole commands against a real Docker host: statuses, the live view, and the sweep's question."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed import Bed, Host
from tests.cli.conftest import COMPOSE, Desk
from tests.report.emulator import shown

FILE = """\
version: 1
fleet: acme
redis: {{url: "{redis}"}}
playspecs:
  web: {{compose_file: compose.yaml}}
marquees:
  east-1:
    host: {host}
    port: {port}
    user: {user}
    known_hosts_file: {known_hosts}
    playgrounds: {{{playgrounds}}}
"""
ORPHAN = "orphan/acme_east-1_docs"


class Site(Desk):
    """A desk with a Docker host; ``demo`` and ``docs`` run there."""

    def __init__(self, bed: Bed, folder: Path) -> None:
        environ = bed.env() | {
            "PYTHONPATH": ":".join(sys.path),
            "XDG_STATE_HOME": str(folder / "state"),
            "TERM": "xterm-256color",
        }
        super().__init__(folder, bed.redis.url, environ)
        self.host: Host = bed.host("east-1")
        shutil.copy(self.host.known_hosts_file, folder / "known_hosts")
        (folder / "strangers").touch()
        (folder / "compose.yaml").write_text(COMPOSE)
        self.declares("demo", "docs")

    def declares(self, *names: str, known_hosts: str = "known_hosts") -> None:
        """Write the declared file."""
        text = FILE.format(
            redis=self.redis,
            host=self.host.host,
            port=self.host.port,
            user=self.host.user,
            known_hosts=known_hosts,
            playgrounds=", ".join(f"{name}: {{playspec: web}}" for name in names),
        )
        (self.folder / "marquees.yaml").write_text(text)

    def subjects(self, *arguments: str) -> dict[str, str]:
        """What a dry run of the sweep says: subject and action."""
        done = self.mqctl("sweep", "east-1", "--dry-run", "-o", "json", *arguments)
        (cycle,) = json.loads(done.stdout)["cycles"]
        return {one["subject"]: one["action"] for one in cycle["decisions"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One host for the whole module: its tests come in the order of an operator's day."""
    with Bed() as bed:
        bed.registry.push("nginx:alpine")
        yield Site(bed, tmp_path_factory.mktemp("desk"))


def test_a_dry_run_tells_by_its_status_that_changes_are_pending(site: Site) -> None:
    assert site.mqctl("reconcile", "east-1", "--dry-run").returncode == 0
    done = site.mqctl("reconcile", "--all", "-n", "--detailed-exitcode", "-o", "json")
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 3
    assert document["cycles"][0]["outcome"] == "planned"
    assert document["cycles"][0]["tally"]["applied"] == 0


def test_a_cycle_at_a_terminal(site: Site) -> None:
    with site.at_terminal("reconcile", "east-1") as terminal:
        assert terminal.end(120) == 0
    assert "━━━" in terminal.output
    lines = shown(terminal.output.replace("\r\n", "\n")).splitlines()
    assert any(line.split()[:3] == ["done", "up", "playground/demo"] for line in lines)
    assert lines[-1].startswith("east-1  changed in ")


def test_the_second_run_changes_nothing(site: Site) -> None:
    done = site.mqctl("reconcile", "--playground", "east-1/demo", "-o", "jsonl")
    assert done.returncode == 0
    names = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    assert names[:2] == ["cycle.started", "lock.acquired"]
    assert names[-3:] == ["lock.released", "cycle.finished", "run.finished"]
    done = site.mqctl("reconcile", "east-1")
    assert "cycle         unchanged" in done.stdout.splitlines()[-1]
    assert site.mqctl("reconcile", "east-1", "-q").stdout == ""


def test_an_unknown_host_key_is_refused(site: Site) -> None:
    site.declares("demo", "docs", known_hosts="strangers")
    done = site.mqctl("reconcile", "east-1", "-o", "json")
    assert done.returncode == json.loads(done.stdout)["error"]["code"] == 77
    assert "known" in done.stderr
    site.declares("demo", "docs")


def test_nothing_to_sweep_needs_no_answer(site: Site) -> None:
    with site.at_terminal("sweep", "east-1") as terminal:
        assert terminal.end(60) == 0
    assert "nothing to remove" in terminal.output


def test_a_sweep_shows_its_plan_and_takes_no_for_an_answer(site: Site) -> None:
    site.declares("demo")
    for typed in ("n\n", "yes\n", "\n", "\x04"):
        with site.at_terminal("sweep", "east-1") as terminal:
            terminal.expect(r"Remove 1 thing\? Type y to go on: ", 60)
            assert "east-1: 1 to remove" in terminal.output
            assert ORPHAN in terminal.output
            terminal.type(typed)
            assert terminal.end(60) == 1
            assert "declined: nothing was removed" in terminal.output
    assert site.subjects() == {ORPHAN: "remove"}


def test_a_sweep_that_cannot_ask_does_nothing(site: Site) -> None:
    done = site.mqctl("sweep", "east-1", stdin="y\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert site.subjects() == {ORPHAN: "remove"}


def test_ctrl_c_at_the_question_is_a_signal(site: Site) -> None:
    with site.at_terminal("sweep", "east-1") as terminal:
        terminal.expect("Type y to go on: ", 60)
        terminal.type("\x03")
        assert terminal.end(60) == 130
    assert site.subjects() == {ORPHAN: "remove"}


def test_a_sweep_after_a_yes(site: Site) -> None:
    with site.at_terminal("sweep", "east-1") as terminal:
        terminal.expect("Type y to go on: ", 60)
        terminal.type("y\n")
        assert terminal.end(120) == 0
    assert "east-1  changed in " in shown(terminal.output.partition("go on: ")[2].lstrip("\r\ny"))
    assert site.subjects() == {}


def test_a_sweep_without_a_terminal(site: Site) -> None:
    site.declares("demo", "docs")
    assert site.mqctl("reconcile", "east-1").returncode == 0
    site.declares("demo")
    done = site.mqctl("sweep", "--all", "--yes", "-o", "json")
    assert done.returncode == 0
    (cycle,) = json.loads(done.stdout)["cycles"]
    assert cycle["tally"]["removed"] == 1
    assert f"remove  {ORPHAN}" in done.stderr


def test_a_refused_sweep_says_what_would_allow_it(site: Site) -> None:
    site.declares()
    done = site.mqctl("sweep", "east-1", "--yes")
    assert done.returncode == 1
    assert "--allow-empty" in done.stdout + done.stderr
