"""A Marquee in each shell, and one SSH server for the whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.support import SHELLS, Site, Sshd, path_with, running


@pytest.fixture(params=SHELLS)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """A Marquee whose ``sh`` is one of those that the guard promises to run in."""
    return Site(tmp_path / "root", path=path_with(tmp_path / "bin", shell=request.param))


@pytest.fixture
def plain(tmp_path: Path) -> Site:
    """A Marquee with this machine's own ``sh``."""
    return Site(tmp_path / "root")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An SSH server with a ``.bashrc`` that prints."""
    folder = tmp_path_factory.mktemp("sshd")
    server = Sshd(folder / "server", folder / "home")
    noise = "echo welcome; printf '@%s' half; echo oops >&2\n"
    (server.home / ".bashrc").write_text(noise)
    with running(server):
        yield server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own home, empty and without an agent."""
    (tmp_path / "me" / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path / "me"
