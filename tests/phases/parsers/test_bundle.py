"""Files that travel on standard input arrive as they are, and are gone afterwards."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqctl.host.bundle import bundle
from mqctl.host.scripts import script
from mqctl.secret import Secret

# Both kinds of awk that hosts have: the machine's own, and busybox's.
AWKS = {"own": None, "busybox": "/bin/busybox"}
SEND_BACK = script("lib_veto", "private") + '\ncd "$CRED" && tar -cf - .'


@pytest.fixture(params=AWKS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "marquee" / ".trash").mkdir(parents=True)
    if program := AWKS[request.param]:
        (tmp_path / "bin" / "awk").symlink_to(program)
    return tmp_path


def arrived(host: Path, sent: bytes) -> dict[str, str]:
    """What a script finds in its private directory."""
    done = subprocess.run(
        ["sh", "-c", SEND_BACK],
        input=sent,
        env={
            "MQCTL_DIR": str(host / "marquee"),
            "MQCTL_FENCE": "42",
            "PATH": f"{host / 'bin'}:{os.environ['PATH']}",
            "LC_ALL": "C",
        },
        check=True,
        capture_output=True,
    )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        files = [member for member in archive if member.isfile()]
        assert all(member.mode == 0o600 for member in files)
        return {one.name.removeprefix("./"): _read(archive, one) for one in files}


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    assert file is not None
    return file.read().decode()


def as_lines(text: str) -> str:
    """A text file ends with a newline, or is empty."""
    return text if not text or text.endswith("\n") else text + "\n"


WEIRD = {
    "plain": "abc",
    "empty": "",
    "newline": "\n",
    "blank-lines": "\n\n\na\n\n",
    "no-end": "a\nb",
    "looks-like-a-header": "other 3\nplain 0\n7 7\n",
    "quotes": "' \" ` $HOME $(id) \\ \\n %s & | ; #\n",
    "key.pem": "-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n",
    "carriage-returns": "a\r\nb\r\n",
    "unicode": "é 漢 \u2028 \x85 \x0b \x1b[31m 😀",
    "long": "x" * 200_000,
    "many": "y\n" * 20_000,
    "last": "end",
}


def test_weird_texts_arrive(host: Path) -> None:
    assert arrived(host, bundle(WEIRD)) == {name: as_lines(text) for name, text in WEIRD.items()}
    assert list((host / "marquee" / ".trash").iterdir()) == []


def test_nothing_is_a_bundle_too(host: Path) -> None:
    assert arrived(host, bundle({})) == {}


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=40
    )
)
def test_any_texts_arrive(host: Path, texts: list[str]) -> None:
    files = {f"f{number}": text for number, text in enumerate(texts)}
    assert arrived(host, bundle(files)) == {name: as_lines(text) for name, text in files.items()}


def test_a_secret_is_revealed_only_there(host: Path) -> None:
    assert arrived(host, bundle({"token": Secret("hunter2-hunter2")})) == {
        "token": "hunter2-hunter2\n"
    }


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", ".hidden", "a b", "a\nb", "-x", "é"]
)
def test_a_name_is_a_plain_file_name(name: str) -> None:
    with pytest.raises(ValueError, match="can travel"):
        bundle({name: "text"})


def test_binary_does_not_travel() -> None:
    with pytest.raises(ValueError, match="can travel"):
        bundle({"a": "x\0y"})
