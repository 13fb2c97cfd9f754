"""The proof that a holder is dead, and everything that is no proof."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from mqctl.lock import Machine, Owner, State, break_lock, look, proven_dead
from mqctl.lock.owner import start_of
from mqctl.store import Store
from tests.lock.conftest import FLEET, MARQUEE
from tests.lock.server import RedisServer

TOKEN = "11111111-1111-4111-8111-111111111111"
HERE = Machine("boot-1", "pid:[1]")
OWNER = {"token": TOKEN, "boot_id": "boot-1", "pid_ns": "pid:[1]", "pid": "4711", "start": "100"}


def test_a_holder_that_was_killed_is_stale_and_can_be_broken(
    server: RedisServer, store: Store
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, server.url], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    token = holder.stdout.readline().strip()
    assert look(store, FLEET, MARQUEE).state is State.HELD
    holder.kill()
    holder.wait()
    holder.stdout.close()
    one = look(store, FLEET, MARQUEE)
    assert (one.state, one.token) == (State.STALE, token)
    assert break_lock(store, FLEET, one, who="me", reason="it crashed")


HOLD = f"""
import sys, time
from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.lock import Owner, acquire
from mqctl.model import RedisSettings
from mqctl.store import Store
store = Store.open(RedisSettings(sys.argv[1]), clock=Clock())
lease = acquire(store, {FLEET!r}, {MARQUEE!r}, Owner.here("x"), ttl=60, clock=Clock(),
                cancel=CancelToken())
print(lease.token, flush=True)
time.sleep(60)
"""


def gone(_pid: int) -> str | None:
    return None


def another(_pid: int) -> str | None:
    return "101"


def the_same(_pid: int) -> str | None:
    return "100"


def hidden(_pid: int) -> str | None:
    return ""


@pytest.mark.parametrize("process", [gone, another])
def test_no_such_process_or_another_one_proves_it(process: Callable[[int], str | None]) -> None:
    assert proven_dead(TOKEN, OWNER, HERE, process)


@pytest.mark.parametrize("process", [the_same, hidden])
def test_the_same_process_or_a_hidden_one_is_alive(process: Callable[[int], str | None]) -> None:
    assert not proven_dead(TOKEN, OWNER, HERE, process)


@pytest.mark.parametrize(
    "change",
    [
        {"token": "another"},
        {"boot_id": "boot-2"},
        {"boot_id": ""},
        {"pid_ns": "pid:[2]"},
        {"pid_ns": ""},
        {"pid": ""},
        {"pid": "0"},
        {"pid": "-1"},
        {"pid": "9" * 30},
        {"start": ""},
        {"start": "x"},
    ],
    ids=str,
)
def test_whatever_cannot_be_told_is_alive(change: dict[str, str]) -> None:
    assert not proven_dead(TOKEN, OWNER | change, HERE, gone)


def test_a_machine_that_does_not_know_itself_proves_nothing() -> None:
    assert not proven_dead(TOKEN, OWNER | {"boot_id": "", "pid_ns": ""}, Machine(), gone)
    assert not proven_dead("", OWNER | {"token": ""}, HERE, gone)


def test_this_process_knows_itself() -> None:
    owner = Owner.here("mqctl")
    assert owner.machine == Machine.here() != Machine()
    assert owner.start == start_of(os.getpid()) != ""
    assert not proven_dead(TOKEN, owner.fields() | {"token": TOKEN}, Machine.here())


def test_a_name_with_parentheses_does_not_confuse_the_start_time() -> None:
    code = "open('/proc/self/comm','w').write(') 1 2 3 ('); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        start = start_of(child.pid)
        assert start is not None
        assert int(start) >= int(start_of(os.getpid()) or 0)
        child.communicate(b"\n")
    assert start_of(child.pid) is None
