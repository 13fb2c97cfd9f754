"""``url: embedded``: a private Redis of this user on this machine, started when it is needed.

Two of them would be two locks. So its place depends on the user's home and the machine alone, not
on the session (``XDG_RUNTIME_DIR`` is set at a terminal and not under cron), and the server itself
holds a lock on a file in it, inherited from whoever started it: while that is held, none is
started. It is never ended, and its data is written before it answers, so that fences survive.
"""

from __future__ import annotations

import fcntl
import os
import platform
import pwd
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from mqctl.errors import Refused, Unreachable
from mqctl.store.address import Address

URL = "embedded"
PATIENCE = 10.0  # seconds until a server must answer; loading its data is part of it
LONGEST_SOCKET_PATH = 107
_FIX_INSTALL = "install redis-server (or valkey-server), or let redis.url name a running Redis"


def directory(environ: Mapping[str, str]) -> Path:
    """Where the embedded server of this user on this machine lives.

    The machine is part of the name: a home may be shared over the network, a lock here is not.
    """
    home = environ.get("HOME") or pwd.getpwuid(os.geteuid()).pw_dir
    return Path(home) / ".local" / "state" / "mqctl" / f"redis-{_machine()}"


def ensure(place: Path, *, notice: Callable[[str], None] | None = None) -> Address:
    """Find the server in ``place``, or start it there.

    Raises:
        Refused: the place belongs to somebody else, or others can write to it.
        Unreachable: it does not start or does not answer, or no server program is installed.
    """
    _prepare(place)
    address = Address(path=place / "redis.sock")
    if len(os.fsencode(str(address.path))) > LONGEST_SOCKET_PATH:
        raise Unreachable(
            "the embedded Redis has no place",
            why=f"{address.path} is too long for a unix socket",
            fix="let redis.url name a running Redis",
        )
    try:
        started = _find_or_start(place, place / "redis.sock")
    except OSError as error:
        raise _failed(place, str(error)) from error
    if notice is not None:
        verb = "started" if started else "using"
        notice(f"{verb} the embedded Redis of this user; other machines do not see its locks")
    return address


def _find_or_start(place: Path, path: Path) -> bool:
    """Give whether we started it. One loop for the starter and for those who come second."""
    end = time.monotonic() + PATIENCE
    started = False
    while not _answers(path):
        lock = _free(place / "server.lock") if not _listens(path) else None
        if lock is not None:
            try:
                if started:
                    raise _failed(place, "it ended right after the start")
                _start(place, path, lock)
                started = True
            finally:
                os.close(lock)  # the server keeps its own copy, and with it the lock
        if time.monotonic() > end:
            raise _failed(place, f"it did not answer within {PATIENCE:g} s")
        time.sleep(0.02)
    return started


def _start(place: Path, path: Path, lock: int) -> None:
    for program in ("redis-server", "valkey-server"):
        try:
            done = subprocess.run(
                [program, *_options(place, path)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=(lock,),
                timeout=PATIENCE,
                check=False,
                umask=0o077,
            )
        except FileNotFoundError:
            continue
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _failed(place, str(error)) from error
        if done.returncode != 0:
            raise _failed(place, (done.stderr or done.stdout).decode("utf-8", "replace").strip())
        return
    raise Unreachable(
        "the embedded Redis cannot be started",
        why="no redis-server is installed",
        fix=_FIX_INSTALL,
    )


def _options(place: Path, path: Path) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(place),
        "daemonize": "yes",
        "pidfile": str(place / "redis.pid"),
        "logfile": str(place / "redis.log"),
        "appendonly": "yes",
        "appendfsync": "always",  # a number that was given out must never come again
        "save": "",
        "maxmemory-policy": "noeviction",
        "timeout": "0",
    }
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def _prepare(place: Path) -> None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = place.lstat()
    except OSError as error:
        raise Unreachable(
            "the embedded Redis has no place", why=str(error), fix=f"make {place} writable"
        ) from error
    writable_by_others = stat.S_IMODE(state.st_mode) & 0o077
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or writable_by_others:
        raise Refused(
            "the embedded Redis is not private",
            why=f"{place} is not a directory of this user alone",
            fix=f"chown it to this user and chmod 700 {place}",
        )


def _free(lock_file: Path) -> int | None:
    """Take the lock of the server; None while a server, or another starter, has it."""
    handle = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1)
        try:
            sock.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
    return True


def _answers(path: Path) -> bool:
    """Whether a Redis there has its data loaded: it says PONG, and nothing else will do."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1)
        try:
            sock.connect(str(path))
            sock.sendall(b"PING\r\n")
            return sock.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def _machine() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()[:12] or platform.node()
    except (OSError, UnicodeDecodeError):
        return platform.node()


def _failed(place: Path, why: str) -> Unreachable:
    return Unreachable(
        "the embedded Redis cannot be used", why=why, fix=f"see {place / 'redis.log'}"
    )
