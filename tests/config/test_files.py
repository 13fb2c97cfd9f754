"""Files that the declared file names: there, readable, and inside of their folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mqctl.config import files
from mqctl.config.files import Unshippable, shipped
from tests.config.support import HEAD, errors, loaded

FILE = HEAD + "playspecs:\n  web:\n    compose_file: web/compose.yaml\n    files: [conf]\n"


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "conf" / "deep").mkdir(parents=True)
    (folder / "compose.yaml").write_text("services: {}\n")
    (folder / "conf" / "b.conf").write_text("b")
    (folder / "conf" / "deep" / "a.conf").write_text("a")
    return folder


def test_a_folder_is_shipped_whole_in_order(web: Path, tmp_path: Path) -> None:
    loaded(tmp_path, FILE)
    assert shipped(web, "conf") == {
        "conf/b.conf": web / "conf/b.conf",
        "conf/deep/a.conf": web / "conf/deep/a.conf",
    }
    assert list(shipped(web, "conf/b.conf")) == ["conf/b.conf"]


def test_a_link_that_stays_inside_is_shipped(web: Path) -> None:
    (web / "conf" / "link.conf").symlink_to("b.conf")
    (web / "current").symlink_to("conf")
    assert "conf/link.conf" in shipped(web, "conf")
    assert "current/deep/a.conf" in shipped(web, "current")


def _lead_out(web: Path) -> None:
    (web / "conf" / "passwd").symlink_to("/etc/passwd")


def _lead_up(web: Path) -> None:
    (web.parent / "key").write_text("x")
    (web / "conf" / "key").symlink_to("../../key")


def _link_folder(web: Path) -> None:
    (web / "conf" / "loop").symlink_to(".")


def _be_link(web: Path) -> None:
    (web / "conf").rename(web / "old")
    (web / "conf").symlink_to("/etc")


def _be_empty_link(web: Path) -> None:
    (web / "conf").rename(web / "old")
    (web.parent / "empty").mkdir()
    (web / "conf").symlink_to("../empty")


def _dangle(web: Path) -> None:
    (web / "conf" / "gone").symlink_to("nothing")


def _circle(web: Path) -> None:
    (web / "conf" / "one").symlink_to("two")
    (web / "conf" / "two").symlink_to("one")


def _pipe(web: Path) -> None:
    os.mkfifo(web / "conf" / "pipe")


def _socket(web: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(web / "conf" / "socket"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_lead_out, "conf/passwd leads out of the Compose file's folder"),
        (_lead_up, "conf/key leads out of the Compose file's folder"),
        (_link_folder, "loop in it links to a folder"),
        (_be_link, "conf leads out of the Compose file's folder"),
        (_be_empty_link, "conf leads out of the Compose file's folder"),
        (_dangle, "a link that leads nowhere: conf/gone"),
        (_circle, ": conf/one"),
        (_pipe, "conf/pipe is neither a file nor a folder"),
        (_socket, "conf/socket is neither a file nor a folder"),
    ],
)
def test_what_cannot_be_shipped_is_an_error_of_the_file(
    web: Path, tmp_path: Path, spoil: object, message: str
) -> None:
    assert callable(spoil)
    spoil(web)
    (found,) = errors(tmp_path, FILE)
    assert found.startswith("7:13: playspecs.web.files[0]: ")
    assert message in found


def test_too_much_is_refused(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (web / "conf" / "big").open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    with pytest.raises(Unshippable, match="too much to ship"):
        shipped(web, "conf")
    (web / "conf" / "big").unlink()
    monkeypatch.setattr(files, "MAX_FILES", 1)
    with pytest.raises(Unshippable, match="too much to ship"):
        shipped(web, "conf")


def test_the_folder_of_the_compose_file_may_itself_be_a_link(web: Path, tmp_path: Path) -> None:
    web.rename(tmp_path / "real")
    web.symlink_to("real")
    loaded(tmp_path, FILE)


def test_a_compose_file_that_is_a_pipe_is_refused(web: Path, tmp_path: Path) -> None:
    (web / "compose.yaml").unlink()
    os.mkfifo(web / "compose.yaml")
    (found,) = errors(tmp_path, FILE)
    assert found == "6:19: playspecs.web.compose_file: not a file; a Compose file is allowed"
