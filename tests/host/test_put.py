"""*put*: an upload is all there or not there, and stays in its place."""

from __future__ import annotations

import io
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from mqctl.host.upload import Content, File, Target, pack
from tests.host.support import Site


def tar(*entries: tuple[str, bytes | str]) -> bytes:
    """A tar as no upload of ours looks: each entry a name and a content, or the type of a link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                kind, _, info.linkname = content.partition(":")
                info.type = getattr(tarfile, kind)
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_files_and_directories_arrive_together(site: Site) -> None:
    site.raise_(7)
    content: dict[str, Content] = {
        "compose.yaml": b"a",
        "conf.d/x/y.conf": b"\x00\xff",
        "run": File(b"c", 0o755),
    }
    targets: dict[str, Target] = {"projects/p/.mqctl/next": content, "tombstones/q": b"{}"}
    assert site.put(7, list(targets), pack(targets)).word == "stored"
    new = site.directory / "projects/p/.mqctl/next"
    assert (new / "conf.d/x/y.conf").read_bytes() == b"\x00\xff"
    assert (site.directory / "tombstones/q").read_bytes() == b"{}"
    assert [mode(new), mode(new / "conf.d/x"), mode(new / "compose.yaml"), mode(new / "run")] == [
        0o700, 0o700, 0o600, 0o755
    ]  # fmt: skip
    assert list((site.directory / ".trash").iterdir()) == []


def test_a_target_is_replaced_whatever_it_was(site: Site) -> None:
    site.raise_(7)
    for old in ({"old": b"1"}, b"file", {"new": b"2"}, b"file"):
        assert site.put(7, ["projects/p"], pack({"": old})).word == "stored"
    assert (site.directory / "projects/p").read_bytes() == b"file"
    link = site.directory / "projects/p"
    link.unlink()
    link.symlink_to(site.directory.parent)
    assert site.put(7, ["projects/p"], pack({"": {"new": b"3"}})).word == "stored"
    assert not link.is_symlink()
    assert (link / "new").read_bytes() == b"3"


def test_a_reader_sees_the_old_file_or_the_new_one(site: Site) -> None:
    site.raise_(7)
    target = site.directory / "projects/f"
    site.put(7, ["projects/f"], pack({"": b"a" * 100_000}))
    script = 'for i in 1 2 3 4 5 6 7 8 9; do wc -c <"$1"; sleep 0.02; done'
    with subprocess.Popen(["sh", "-c", script, "sh", target], stdout=subprocess.PIPE) as watcher:
        for letter in b"bcdef":
            site.put(7, ["projects/f"], pack({"": bytes([letter]) * 100_000}))
        assert watcher.stdout is not None
        assert set(watcher.stdout.read().split()) == {b"100000"}


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(tar(("/etc/evil", b"x")), id="absolute"),
        pytest.param(tar(("0/../../../evil", b"x")), id="above"),
        pytest.param(tar(("..", b"x")), id="parent"),
        pytest.param(tar(("0", "SYMTYPE:/etc")), id="symlink"),
        pytest.param(tar(("0", b"x"), ("1", "LNKTYPE:0")), id="hard link"),
        pytest.param(tar(("0/a", "SYMTYPE:/tmp"), ("0/a/evil", b"x")), id="through a symlink"),
        pytest.param(tar(("0", "FIFOTYPE:")), id="fifo"),
        pytest.param(tar(("0", "CHRTYPE:")), id="device"),
        pytest.param(tar(("0/a\nb", "SYMTYPE:/etc")), id="newline in a name"),
        pytest.param(tar(("other", b"x")), id="lacks the target"),
        pytest.param(b"no tar at all" * 100, id="no tar"),
        pytest.param(b"", id="empty"),
    ],
)
def test_a_hostile_tar_changes_nothing(plain: Site, archive: bytes) -> None:
    plain.raise_(7)
    assert plain.put(7, ["projects/p"], archive).word == "broken"
    assert list((plain.directory / "projects").iterdir()) == []
    assert list((plain.directory / ".trash").iterdir()) == []
    assert not (plain.directory.parent / "evil").exists()


@pytest.mark.parametrize(
    "target",
    [
        *("", ".", "..", "/etc/x", "projects/../../x", "projects//x", "projects/./x", "projects/"),
        *("fence", "last", "running", "settling", ".trash", ".trash/x", "projects/link/x"),
    ],
)
def test_a_target_outside_its_place_is_refused(plain: Site, target: str) -> None:
    plain.raise_(7)
    (plain.directory / "projects/link").symlink_to(plain.directory.parent)
    assert plain.put(7, ["projects/fine", target], pack({"a": b"1", "b": b"2"})).word == "broken"
    assert not plain.has("projects/fine")


def test_half_an_upload_is_none(site: Site) -> None:
    site.raise_(7)
    archive = pack({"projects/p": {"a": b"1" * 5000, "b": b"2" * 5000}})
    # Cut where one member ends, which tar itself takes for the end.
    for size in (1024, 512, 6656, len(archive) - 1, 0):
        answer = site.put(7, ["projects/p"], archive[:size], size=len(archive))
        assert answer.word == "truncated", size
    assert not site.has("projects/p")


def test_put_obeys_the_fence(site: Site) -> None:
    site.raise_(7)
    archive = pack({"projects/p": b"1"})
    assert site.put(6, ["projects/p"], archive).word == "stale"
    assert site.put(8, ["projects/p"], archive).word == "stale"
    assert site.put(7, ["projects/p"], archive, not_after=site.soon(-1)).word == "late"
    site.close(7)
    assert site.put(7, ["projects/p"], archive).word == "closed"
    assert not site.has("projects/p")


def test_put_waits_for_a_running_command_but_not_to_unpack(site: Site) -> None:
    site.raise_(7)
    with site.start(
        site.run_call(7, "touch began; sleep 0.7; test ! -e projects/p && touch alone")
    ):
        while not site.has("began"):
            time.sleep(0.01)
        assert site.put(7, ["projects/p"], pack({"": b"1"})).word == "stored"
    assert site.has("alone")


@pytest.mark.parametrize("path", ["/abs", "a/../b", "", ".."])
def test_pack_takes_paths_inside_only(path: str) -> None:
    with pytest.raises(ValueError, match="inside"):
        pack({"projects/p": {path: b""}})


def test_a_large_upload_is_quick(plain: Site) -> None:
    plain.raise_(7)
    began = time.monotonic()
    assert plain.put(7, ["projects/p"], pack({"": {"big": b"x" * 16_000_000}})).word == "stored"
    assert time.monotonic() - began < 10
