"""A real redis-server of a test's own, on a unix socket and a free loopback port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

import redis

from mqctl.clock import Clock
from mqctl.model import RedisSettings
from mqctl.store import Store

PROGRAM = os.environ.get("MQCTL_TEST_REDIS", "redis-server")  # another version, or Valkey


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port


class RedisServer:
    """Started at once, ended by :meth:`stop`; ``hand`` is an operator's own client."""

    def __init__(self, directory: Path, *options: str) -> None:
        assert shutil.which(PROGRAM), f"{PROGRAM} is not installed (apt-get install redis-server)"
        self.directory = directory
        self.port = free_port()
        self.socket = directory / "redis.sock"
        self._process = subprocess.Popen(
            [
                PROGRAM,
                *("--port", str(self.port), "--bind", "127.0.0.1", "::1"),
                *("--unixsocket", str(self.socket), "--dir", str(directory)),
                *("--save", "", "--appendonly", "no", "--databases", "4"),
                *("--repl-diskless-sync-delay", "0", *options),
            ],
            stdout=subprocess.DEVNULL,
        )
        self.hand = redis.Redis(
            unix_socket_path=str(self.socket), decode_responses=True, protocol=2
        )
        try:
            self._await()
        except BaseException:
            self.stop()
            raise

    def _await(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                self.hand.ping()
            except redis.ConnectionError:
                assert self._process.poll() is None, f"{PROGRAM} ended at its start"
                assert time.monotonic() < end, f"{PROGRAM} does not start"
                time.sleep(0.01)
            else:
                return

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def tcp(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def store(self, url: str | None = None, *, timeout: float = 2.0) -> Store:
        return Store.open(RedisSettings(url or self.url, timeout=timeout), clock=Clock())

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.hand.close()
        self.thaw()
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
