"""Hosts that are not as they should be: programs, disks, rights."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mqctl.errors import Refused
from tests.host.support import Lease, Site, gateway, path_with

NEEDED = frozenset(
    {"sh", "cat", "sync", "stat", "mv", "rm", "mkdir", "sleep", "head", "grep", "true", "touch"}
    | {"tar", "find", "flock", "timeout"}
)


@pytest.mark.parametrize("missing", ["flock", "timeout", "tar", "find"])
def test_a_host_without_a_program_is_told_which(tmp_path: Path, missing: str) -> None:
    programs = NEEDED - {missing}
    site = Site(tmp_path / "root", path=path_with(tmp_path / "bin", *programs))
    answer = site.raise_(7)
    assert answer.word == "unsupported"
    assert missing in answer.rest
    with pytest.raises(Refused) as caught:
        gateway(site.transport, site.marquee, Lease()).raise_fence(7, "one", "a", 60, "true")
    assert missing in caught.value.why


def test_a_look_works_even_there(tmp_path: Path) -> None:
    programs = NEEDED - {"flock", "timeout"}
    site = Site(tmp_path / "root", path=path_with(tmp_path / "bin", *programs))
    answer = site.ask(site.build.look("echo fine; exit 5", [], limit=5))
    assert answer.output is not None
    assert (answer.output.stdout, answer.output.status) == (b"fine\n", 5)
    assert site.run(7, "true").word == "unsupported"


@pytest.mark.parametrize("program", ["timeout", "tar"])
def test_busyboxs_timeout_is_not_enough_but_its_tar_is(tmp_path: Path, program: str) -> None:
    site = Site(tmp_path / "root", path=path_with(tmp_path / "bin"))
    (tmp_path / "bin" / program).symlink_to("/bin/busybox")
    assert site.raise_(7).word == ("raised" if program == "tar" else "unsupported")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_a_full_disk_is_noticed_before_anything_runs(
    disk: Path, tmp_path: Path, shell: str
) -> None:
    site = Site(disk / "root", path=path_with(tmp_path / "bin", shell=shell))
    site.raise_(7)
    fence = (site.directory / "fence").read_text()
    subprocess.run(["sh", "-c", "cat /dev/zero >full 2>/dev/null"], cwd=disk, check=False)
    assert site.run(7, "echo ran >&2").word == "broken"
    assert site.put(7, ["projects/p"], b"x" * 10240).word == "broken"
    answer = site.raise_(8)
    assert answer.word == "broken"
    assert "disk full" in answer.rest
    assert (site.directory / "fence").read_text() == fence
    (disk / "full").unlink()
    assert site.raise_(8).word == "raised"


def test_a_read_only_disk_refuses(disk: Path) -> None:
    site = Site(disk / "root")
    site.raise_(7)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert site.raise_(8).word == "broken"
    assert site.run(7, "true").word == "broken"
    assert Site(disk / "other").raise_(1).word == "broken"


def test_a_root_must_be_absolute_and_ours(tmp_path: Path) -> None:
    assert Site(Path("relative")).raise_(1).word == "broken"
    (tmp_path / "file").touch()
    assert Site(tmp_path / "file").raise_(1).word == "broken"


def test_sudo_runs_the_guard_and_keeps_the_users_home(tmp_path: Path) -> None:
    site = Site(tmp_path / "me" / "root", sudo=True)
    site.raise_(7)
    assert site.run(7, "id -u; flock -n . true || echo taken").output is not None
    answer = site.run(7, "id -u; flock -n . true || echo taken")
    assert answer.output is not None
    assert answer.output.text == "0\ntaken\n"
    home = Site(Path("~/.mqctl"), sudo=True)
    home.environ["HOME"] = str(tmp_path / "me")
    home.transport._environ["HOME"] = str(tmp_path / "me")
    assert home.raise_(7).word == "raised"
    assert (tmp_path / "me/.mqctl/acme/east/fence").exists()


def test_sudo_that_wants_a_password_is_refused(tmp_path: Path) -> None:
    # The real sudo, asked by a user whom it does not know.
    site = Site(tmp_path / "root", sudo=True, path=path_with(tmp_path / "bin"))
    sudo = tmp_path / "bin" / "sudo"
    sudo.write_text('#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups /usr/bin/sudo "$@"\n')
    sudo.chmod(0o755)
    with pytest.raises(Refused) as caught:
        gateway(site.transport, site.marquee, Lease()).read("true")
    assert "password is required" in caught.value.why
    assert "NOPASSWD" in caught.value.fix
