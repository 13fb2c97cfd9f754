"""A folder with a declared file, a real Redis, and mqctl as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bed import RedisServer
from tests.report.ptys import Terminal

FILE = """\
version: 1
fleet: acme
redis: {{url: "{redis}", timeout: 500ms}}
lock: {{ttl: 30s}}
playspecs:
  web: {{compose_file: compose.yaml}}
marquees:
  east-1:
    host: local
    root: {root}
    playgrounds:
      demo: {{playspec: web}}
      docs: {{playspec: web, status: stopped}}
  west-1: {{host: west.example.com, user: deploy}}
  retired: {{host: old.example.com, user: deploy, status: disabled}}
"""
COMPOSE = "services: {web: {image: 'nginx:alpine'}}\n"


@dataclass
class Desk:
    """Where an operator sits: a working directory, an environment, and a shell."""

    folder: Path
    redis: str
    environ: dict[str, str] = field(default_factory=dict)

    def mqctl(
        self,
        *arguments: str,
        stdin: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run it without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "mqctl", *arguments],
            cwd=self.folder,
            env=self.environ | dict(environ or {}),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def at_terminal(self, *arguments: str, stdout: int | None = None) -> Terminal:
        """Run it at a terminal."""
        return Terminal(
            ["-m", "mqctl", *arguments], self.environ, cwd=str(self.folder), stdout=stdout
        )

    def start(self, arguments: Sequence[str], **options: int | bool) -> subprocess.Popen[bytes]:
        """Start any Python program here; the caller ends it."""
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return] # the options vary
            [sys.executable, *arguments], cwd=self.folder, env=self.environ, **options
        )

    @property
    def root(self) -> Path:
        """The root on the Marquee that is this machine."""
        return self.folder / "root"

    @property
    def state(self) -> Path:
        """``$XDG_STATE_HOME/mqctl``."""
        return self.folder / "state" / "mqctl"


@pytest.fixture(scope="session")
def _redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis(_redis: RedisServer) -> RedisServer:
    """An empty Redis."""
    _redis.cli("FLUSHALL")
    return _redis


@pytest.fixture
def bare(tmp_path: Path) -> Desk:
    """A desk without a declared file."""
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    return Desk(tmp_path, "redis://127.0.0.1:1/0", environ)


@pytest.fixture
def offline(bare: Desk) -> Desk:
    """A desk with a declared file whose Redis nobody answers at."""
    (bare.folder / "compose.yaml").write_text(COMPOSE)
    (bare.folder / "marquees.yaml").write_text(FILE.format(redis=bare.redis, root=bare.root))
    return bare


@pytest.fixture
def desk(offline: Desk, redis: RedisServer) -> Desk:
    """A desk with a declared file and its Redis."""
    offline.redis = redis.url
    (offline.folder / "marquees.yaml").write_text(FILE.format(redis=redis.url, root=offline.root))
    return offline
