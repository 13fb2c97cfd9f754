"""The way to a host, as ``~/.ssh/config`` and the declared file say; compared with ``ssh -G``."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from mqctl.errors import Refused
from mqctl.host.ssh.config import Hop, load, route
from mqctl.model import Marquee


def way(home: Path, config: str, **declared: object) -> tuple[Hop, ...]:
    (home / ".ssh/config").write_text(config)
    values: dict[str, object] = {"host": "east", "user": "deploy"} | declared
    return route(Marquee("east", "acme", **values), load())  # type: ignore[arg-type]  # as named


def test_an_alias_stands_for_what_the_configuration_says(home: Path) -> None:
    config = (
        "Host east\n HostName 10.0.0.1\n Port 2222\n IdentityFile ~/.ssh/east\n HostKeyAlias pet\n"
    )
    [hop] = way(home, config)
    assert (hop.host, hop.port, hop.user, hop.host_key_alias) == ("10.0.0.1", 2222, "deploy", "pet")
    assert hop.identities == (home / ".ssh/east",)
    assert str(hop) == "deploy@10.0.0.1 port 2222"
    asked = ["ssh", "-F", str(home / ".ssh/config"), "-G", "east"]
    openssh = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()
    assert {"hostname 10.0.0.1", "port 2222", "hostkeyalias pet"} <= set(openssh)


def test_what_is_declared_wins(home: Path) -> None:
    config = "Host *\n User other\n Port 2222\n IdentityFile ~/.ssh/a\n UserKnownHostsFile ~/x\n"
    key, known = Path("/k"), Path("/known")
    [hop] = way(home, config, port=23, identity_file=key, known_hosts_file=known)
    assert (hop.user, hop.port, hop.identities) == ("deploy", 23, (key,))
    assert hop.known_hosts_files == (known,)
    assert not hop.agent_too


def test_without_a_configuration_the_usual_files_count(home: Path) -> None:
    [hop] = way(home, "")
    assert (hop.host, hop.port, hop.agent_too) == ("east", 22, True)
    assert hop.identities[0] == home / ".ssh/id_ed25519"
    assert home / ".ssh/known_hosts" in hop.known_hosts_files
    assert Path("/etc/ssh/ssh_known_hosts") in hop.known_hosts_files


def test_a_jump_has_its_own_configuration(home: Path) -> None:
    config = "Host east\n ProxyJump gate\nHost gate\n HostName 10.0.0.9\n User jumper\n"
    gate, east = way(home, config, known_hosts_file=Path("/known"))
    assert (gate.host, gate.user) == ("10.0.0.9", "jumper")
    assert gate.known_hosts_files[:2] == (Path("/known"), home / ".ssh/known_hosts")
    assert east.host == "east"


@pytest.mark.parametrize(
    ("jump", "hosts"),
    [
        ("none", ["east"]),
        ("NONE", ["east"]),
        ("a,b", ["a", "b", "east"]),
        ("a, b", ["a", "b", "east"]),
        ("me@a:23", ["a", "east"]),
        ("ssh://me@a:23/", ["a", "east"]),
        ("[::1]:23", ["::1", "east"]),
        ("east", ["east"]),
    ],
)
def test_jumps_are_passed_in_their_order(home: Path, jump: str, hosts: list[str]) -> None:
    hops = way(home, f"Host east\n ProxyJump {jump}\n")
    assert [hop.host for hop in hops] == hosts
    if "@" in jump:
        assert (hops[0].user, hops[0].port) == ("me", 23)


def test_a_jump_host_may_be_behind_another_one(home: Path) -> None:
    config = "Host east\n ProxyJump b\nHost b\n ProxyJump a\nHost c\n ProxyJump east\n"
    assert [hop.host for hop in way(home, config)] == ["a", "b", "east"]
    assert [hop.host for hop in way(home, config, host="c")] == ["a", "b", "east", "c"]


def test_the_common_way_to_exempt_the_jump_host(home: Path) -> None:
    config = "Host gate\n ProxyJump none\nHost *\n ProxyJump gate\n"
    assert [hop.host for hop in way(home, config)] == ["gate", "east"]
    assert [hop.host for hop in way(home, "Host *\n ProxyJump gate\n")] == ["gate", "east"]


def test_circles_end(home: Path) -> None:
    with pytest.raises(Refused, match="cannot be followed"):
        way(home, "Host east\n ProxyJump b\nHost b\n ProxyJump c\nHost c\n ProxyJump b\n")


def test_included_files_are_read_in_their_place(home: Path) -> None:
    (home / ".ssh/config.d").mkdir()
    (home / ".ssh/config.d/1").write_text("Host east\n HostName 10.0.0.1\n")
    (home / ".ssh/config.d/2").write_text("Host east\n HostName 10.0.0.2\n Port 2222\n")
    config = "Include config.d/*\nUser x\nHost west\n Include config.d/none\n Port 1\n"
    [hop] = way(home, config)
    assert (hop.host, hop.port) == ("10.0.0.1", 2222)
    assert way(home, config, host="west", user=None)[0] == dataclasses.replace(
        way(home, "")[0], alias="west", host="west", port=1, user="x"
    )


def test_identities_only_leaves_the_rest_of_the_agent_out(home: Path) -> None:
    assert not way(home, "Host *\n IdentitiesOnly yes\n")[0].agent_too


def test_a_broken_configuration_is_refused(home: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        way(home, "Host east\n nonsense\n")
