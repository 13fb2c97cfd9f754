"""Which host keys are trusted: checked against ``ssh-keygen -F`` where that has an opinion."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from mqctl.host.ssh.known_hosts import Trust, bracketed, look_up
from tests.bed.keys import make_key, public


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two public keys, as ``kind blob``."""
    folder = tmp_path_factory.mktemp("keys")
    made = [make_key(folder / name) for name in ("one", "two")]
    return [" ".join(public(key).read_text().split()[:2]) for key in made]


def judge(file: Path, key: str, host: str, port: int = 22, alias: str | None = None) -> Trust:
    kind, blob = key.split()
    return look_up([file], host, port, alias=alias).judge(kind, base64.b64decode(blob))


@pytest.mark.parametrize(
    ("line", "where", "trust"),
    [
        ("host", ("host", 22), Trust.KNOWN),
        ("host", ("HOST", 22), Trust.KNOWN),
        ("other,host,third", ("host", 22), Trust.KNOWN),
        ("other", ("host", 22), Trust.UNKNOWN),
        ("[host]:2222", ("host", 2222), Trust.KNOWN),
        ("[host]:2222", ("host", 22), Trust.UNKNOWN),
        ("[host]:2222", ("host", 2223), Trust.UNKNOWN),
        ("host", ("host", 2222), Trust.KNOWN),
        ("*.example.com", ("a.example.com", 22), Trust.KNOWN),
        ("*.example.com,!a.example.com", ("a.example.com", 22), Trust.UNKNOWN),
        ("!a.example.com,*.example.com", ("b.example.com", 22), Trust.KNOWN),
        ("h?st", ("host", 22), Trust.KNOWN),
        ("[ho]st", ("host", 22), Trust.UNKNOWN),
        ("# host", ("host", 22), Trust.UNKNOWN),
        ("@cert-authority host", ("host", 22), Trust.UNKNOWN),
        ("@revoked host", ("host", 22), Trust.REVOKED),
        ("@revoked *", ("host", 2222), Trust.REVOKED),
        ("|1|broken", ("host", 22), Trust.UNKNOWN),
    ],
)
def test_lines_are_read_as_openssh_does(
    tmp_path: Path, keys: list[str], line: str, where: tuple[str, int], trust: Trust
) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"\n{line} {keys[0]} comment\n")
    assert judge(file, keys[0], *where) is trust


def test_hashed_names_are_found(tmp_path: Path, keys: list[str]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"host {keys[0]}\n[host]:2222 {keys[1]}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(file)], check=True, capture_output=True)
    assert "host" not in file.read_text().replace("known_hosts", "")
    assert judge(file, keys[0], "host") is Trust.KNOWN
    assert judge(file, keys[1], "host") is Trust.CHANGED
    assert judge(file, keys[1], "host", 2222) is Trust.KNOWN


def test_a_host_may_have_several_keys_of_a_type(tmp_path: Path, keys: list[str]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text("".join(f"host {key}\n" for key in keys))
    assert [judge(file, key, "host") for key in keys] == [Trust.KNOWN] * 2


def test_a_revoked_key_is_never_known(tmp_path: Path, keys: list[str]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"host {keys[0]}\n@revoked host {keys[0]}\n")
    assert judge(file, keys[0], "host") is Trust.REVOKED


def test_an_alias_is_looked_up_instead_of_name_and_port(tmp_path: Path, keys: list[str]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"pet {keys[0]}\nhost {keys[1]}\n")
    assert judge(file, keys[0], "host", 2222, alias="pet") is Trust.KNOWN
    assert judge(file, keys[1], "host", 2222, alias="pet") is Trust.CHANGED
    assert judge(file, keys[1], "host", 22, alias="stranger") is Trust.UNKNOWN


def test_a_missing_file_knows_nobody(tmp_path: Path, keys: list[str]) -> None:
    assert judge(tmp_path / "none", keys[0], "host") is Trust.UNKNOWN
    assert bracketed("host", 2222) == "[host]:2222"
