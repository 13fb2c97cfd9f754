"""The private Redis of one user on one machine: one server, whoever starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from mqctl.clock import Clock
from mqctl.errors import Refused, Unreachable
from mqctl.model import RedisSettings
from mqctl.store import Store, embedded
from tests.lock.conftest import take


@pytest.fixture
def home() -> Iterator[Path]:
    """A home short enough for a unix socket; its server ends with the test."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        yield home
        pid_file = embedded.directory({"HOME": name}) / "redis.pid"
        if pid_file.exists():
            end(int(pid_file.read_text()))


def end(pid: int) -> None:
    """Kill a server and wait until its lock on the place is gone with it."""
    os.kill(pid, signal.SIGKILL)
    limit = time.monotonic() + 5
    while Path(f"/proc/{pid}/exe").exists() and time.monotonic() < limit:
        time.sleep(0.01)


def opened(home: Path, notices: list[str] | None = None) -> Store:
    return Store.open(
        RedisSettings(embedded.URL),
        clock=Clock(),
        environ={"HOME": str(home)},
        notice=None if notices is None else notices.append,
    )


def server_pid(store: Store) -> int:
    assert store.address.path is not None
    with redis.Redis(unix_socket_path=str(store.address.path)) as hand:
        return int(hand.info("server")["process_id"])


def test_it_is_started_found_again_and_says_so(home: Path) -> None:
    notices: list[str] = []
    with opened(home, notices) as first, opened(home, notices) as second:
        lease = take(first)
        assert server_pid(first) == server_pid(second)
        assert lease.release().released
    assert [notice.split()[0] for notice in notices] == ["started", "using"]


def test_nobody_else_can_reach_it(home: Path) -> None:
    with opened(home) as store:
        path = store.address.path
        assert path is not None
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert path.stat().st_mode & 0o777 == 0o700
        with redis.Redis(unix_socket_path=str(path)) as hand:
            assert hand.config_get("port") == {"port": "0"}


def test_many_starters_get_one_server(home: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mqctl.store import embedded;"
        "sys.stdin.readline(); embedded.ensure(Path(sys.argv[1]))"
    )
    place = embedded.directory({"HOME": str(home)})
    starters = [
        subprocess.Popen([sys.executable, "-c", code, str(place)], stdin=subprocess.PIPE, text=True)
        for _ in range(5)
    ]
    time.sleep(0.5)  # all of them wait for the word
    for starter in starters:
        assert starter.stdin is not None
        starter.stdin.write("go\n")
        starter.stdin.close()
    assert [starter.wait(30) for starter in starters] == [0] * 5
    assert len([one for one in Path("/proc").glob("[0-9]*/cwd") if _leads_to(one, place)]) == 1


def _leads_to(link: Path, place: Path) -> bool:
    try:
        return link.resolve() == place
    except OSError:
        return False


def test_numbers_survive_a_crash_of_the_server(home: Path) -> None:
    with opened(home) as store:
        lease = take(store)
        lease.renew("raise", floor=41)
        end(server_pid(store))
    with opened(home) as store:
        assert store.memory("acme", "east-1").fence() == 42
        assert store.memory("acme", "east-1").authority() == lease.authority


def test_a_server_that_hangs_is_not_joined_by_a_second_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home) as store:
        pid = server_pid(store)
    monkeypatch.setattr(embedded, "PATIENCE", 0.5)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Unreachable, match="embedded"):
        opened(home)
    os.kill(pid, signal.SIGCONT)
    with opened(home) as store:
        assert server_pid(store) == pid


def test_a_lost_socket_file_does_not_start_a_second_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home) as store:
        assert store.address.path is not None
        store.address.path.unlink()
    monkeypatch.setattr(embedded, "PATIENCE", 0.5)
    with pytest.raises(Unreachable):
        opened(home)


def test_without_a_server_program_it_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(Unreachable) as error:
        opened(home)
    assert "install redis-server" in error.value.fix


def test_a_place_that_others_can_enter_is_refused(home: Path) -> None:
    place = embedded.directory({"HOME": str(home)})
    place.mkdir(parents=True)
    place.chmod(0o755)
    with pytest.raises(Refused, match="private"):
        opened(home)


def test_a_home_with_a_very_long_name_is_explained(home: Path) -> None:
    with pytest.raises(Unreachable, match="no place"):
        opened(home / ("x" * 100))
