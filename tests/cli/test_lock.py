"""``lock status``, ``lock break`` and ``history`` with a real Redis and real holders."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed import RedisServer
from tests.cli.conftest import Desk

KEY = "mqctl:{acme/east-1}:lock"


class Holder:
    """A process that holds a lock."""

    def __init__(self, desk: Desk, marquee: str = "east-1") -> None:
        self.process = desk.start(
            ["-m", "tests.cli.holder", desk.redis, marquee],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.token = self.process.stdout.readline().decode().strip()
        assert self.token

    def dies(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def holder(desk: Desk) -> Iterator[Holder]:
    """Somebody who holds east-1."""
    holder = Holder(desk)
    yield holder
    holder.dies()


def test_status_of_free_locks(desk: Desk) -> None:
    done = desk.mqctl("lock", "status")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows[1:]] == [
        ["east-1", "free"],
        ["west-1", "free"],
        ["retired", "free"],
    ]
    assert len(desk.mqctl("lock", "status", "west-1").stdout.splitlines()) == 2


def test_status_of_a_held_lock(desk: Desk, holder: Holder) -> None:
    row = desk.mqctl("lock", "status", "east-1").stdout.splitlines()[1].split()
    assert row[:2] == ["east-1", "held"]
    assert f"{holder.process.pid})" in row
    assert row[-2:] == ["playgrounds", "1"]
    document = json.loads(desk.mqctl("lock", "status", "east-1", "-o", "json").stdout)
    assert list(document) == ["schema", "command", "exit_code", "locks"]
    assert document["command"] == "lock status"
    (lock,) = document["locks"]
    assert list(lock) == [
        "marquee",
        "key",
        "state",
        "token",
        "fence",
        "ttl_ms",
        "owner",
        "pending",
        "quarantined",
        "last_cycle",
    ]
    assert lock["token"] == holder.token
    assert lock["owner"]["phase"] == "playgrounds"
    lines = desk.mqctl("lock", "status", "-o", "jsonl").stdout.splitlines()
    assert [json.loads(line)["marquee"] for line in lines] == ["east-1", "west-1", "retired"]


def test_status_at_a_terminal_tells_the_next_steps(desk: Desk, holder: Holder) -> None:
    with desk.at_terminal("lock", "status") as terminal:
        assert terminal.end() == 0
    assert f"(pid {holder.process.pid})" in terminal.output
    assert "mqctl lock break MARQUEE" in terminal.output


def test_without_redis_the_status_is_69(offline: Desk) -> None:
    done = offline.mqctl("lock", "status")
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr.startswith("mqctl: error: Redis ")
    document = json.loads(offline.mqctl("lock", "status", "-o", "json").stdout)
    assert document["locks"] == []
    assert document["error"]["code"] == 69


def test_breaking_a_free_lock_is_fine(desk: Desk) -> None:
    done = desk.mqctl("lock", "break", "east-1")
    assert (done.returncode, done.stdout) == (0, "the lock of east-1 is free\n")


def test_a_living_holder_is_not_broken(desk: Desk, holder: Holder, redis: RedisServer) -> None:
    for more in ((), ("--yes", "--token", holder.token[:8])):
        done = desk.mqctl("lock", "break", "east-1", *more)
        assert (done.returncode, done.stdout) == (75, "")
        assert "its holder is not proven dead" in done.stderr
        assert f"(pid {holder.process.pid})" in done.stderr
        assert "mqctl lock break east-1 --force" in done.stderr
    assert redis.cli("GET", KEY) == holder.token


def test_another_token_is_not_broken(desk: Desk, holder: Holder, redis: RedisServer) -> None:
    holder.dies()
    done = desk.mqctl("lock", "break", "east-1", "--yes", "--token", "00000000")
    assert done.returncode == 75
    assert "it is another one than 00000000" in done.stderr
    assert redis.cli("GET", KEY) == holder.token


@pytest.mark.parametrize("more", [(), ("--yes",), ("--token", "TOKEN")])
def test_without_a_terminal_yes_and_token_are_needed(
    desk: Desk, holder: Holder, redis: RedisServer, more: tuple[str, ...]
) -> None:
    holder.dies()
    arguments = [holder.token if one == "TOKEN" else one for one in more]
    done = desk.mqctl("lock", "break", "east-1", *arguments, stdin="east-1\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--yes --token {holder.token[:8]}" in done.stderr
    assert redis.cli("GET", KEY) == holder.token


def fence(desk: Desk) -> list[str]:
    return (desk.root / "acme" / "east-1" / "fence").read_text().split()


def test_a_dead_holder_is_broken_and_the_host_closed(
    desk: Desk, holder: Holder, redis: RedisServer
) -> None:
    holder.dies()
    reason = "runner was deleted"
    arguments = ["--yes", "--token", holder.token[:8], "--reason", reason]
    done = desk.mqctl("lock", "break", "east-1", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("the lock of east-1 was broken; it was ")
    assert second.startswith("host: fence 2 stands there, closed:")
    assert redis.cli("EXISTS", KEY) == "0"
    assert fence(desk)[2] == "2"
    assert fence(desk)[6] == "closed"
    done = desk.mqctl("history", "east-1")
    assert f"reason={reason}" in done.stdout
    events = [json.loads(line) for line in desk.mqctl("history", "-o", "jsonl").stdout.splitlines()]
    assert events[-1]["marquee"] == "east-1"
    assert events == json.loads(desk.mqctl("history", "-o", "json").stdout)["events"]


def test_force_breaks_a_living_one_and_says_it_in_json(desk: Desk, holder: Holder) -> None:
    arguments = ["--force", "--yes", "--token", holder.token, "-o", "json"]
    done = desk.mqctl("lock", "break", "east-1", *arguments)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["lock"]["token"] == holder.token
    assert (document["broken"], document["fence"], document["host"]) == (True, 2, "closed")


def test_a_host_out_of_reach_is_told_and_is_no_failure(desk: Desk) -> None:
    text = (desk.folder / "marquees.yaml").read_text()
    text = text.replace("west.example.com, user: deploy", "127.0.0.1, user: deploy, port: 1")
    (desk.folder / "marquees.yaml").write_text(text)
    holder = Holder(desk, "west-1")
    holder.dies()
    done = desk.mqctl("lock", "break", "west-1", "--yes", "--token", holder.token)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].endswith("the old holder may finish the step that it is at")
    assert "closed" not in done.stdout


def test_at_a_terminal_the_name_must_be_typed(
    desk: Desk, holder: Holder, redis: RedisServer
) -> None:
    holder.dies()
    for typed in ("y\n", "west-1\n", "\n", "\x04"):
        with desk.at_terminal("lock", "break", "east-1") as terminal:
            terminal.expect(r"Type the Marquee's name \(east-1\) to break it: ")
            assert "That process is proven dead." in terminal.output
            terminal.type(typed)
            assert terminal.end() == 1
            assert "declined: the lock of east-1 was not broken" in terminal.output
    assert redis.cli("GET", KEY) == holder.token
    with desk.at_terminal("lock", "break", "east-1") as terminal:
        terminal.expect("to break it: ")
        terminal.type("east-1\n")
        assert terminal.end() == 0
        assert "the lock of east-1 was broken" in terminal.output
    assert redis.cli("EXISTS", KEY) == "0"


def test_a_living_holder_at_a_terminal_needs_force_and_a_warning(
    desk: Desk, holder: Holder, redis: RedisServer
) -> None:
    with desk.at_terminal("lock", "break", "east-1", "--force") as terminal:
        terminal.expect("to break it: ")
        assert "That process may be alive" in terminal.output
        assert "It runs: mqctl reconcile --all" in terminal.output
        terminal.type("\x03")
        assert terminal.end() == 130
    assert redis.cli("GET", KEY) == holder.token


def test_what_stands_in_redis_is_data(desk: Desk, redis: RedisServer, tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text('SET %s "\\x1b[2Jx\\ny" PX 60000\n' % KEY)  # noqa: UP031 - braces in the key
    with script.open() as commands:
        subprocess.run(
            ["redis-cli", "-p", str(redis.port)],
            stdin=commands,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    done = desk.mqctl("lock", "status", "east-1")
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert done.stdout.splitlines()[1].split()[1] == "foreign"
