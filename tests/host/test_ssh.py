"""SSH against real servers: trust, keys, limits."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from mqctl.cancel import CancelToken
from mqctl.errors import Cancelled, ExitCode, Refused, Unreachable
from mqctl.host.completed import Completed
from mqctl.host.transport import TransportBroken
from tests.bed.keys import make_key
from tests.bed.net import free_port
from tests.host.support import QUICK, Lease, Sshd, connected, eventually, gateway, running

pytestmark = pytest.mark.usefixtures("home")


def test_commands_share_one_connection(sshd: Sshd) -> None:
    before = sshd.log.count("Connection from")
    with connected(sshd.marquee()) as way:
        for index in range(3):
            done = way.run(f"cat; echo {index}; exit {index}", stdin=b"in ", limit=5)
            assert done.stdout.endswith(f"in {index}\n".encode())
            assert done.status == index
        assert (way.connections, way.channels) == (1, 3)
    assert sshd.log.count("Connection from") == before + 1


def test_noise_of_the_login_shell_is_no_answer(sshd: Sshd) -> None:
    with connected(sshd.marquee()) as way:
        assert b"welcome" in way.run("true", limit=5).stdout
        gate = gateway(way, sshd.marquee(), Lease())
        assert gate.read("echo x; echo y >&2") == Completed(b"x\n", b"y\n", 0)


def test_the_root_is_in_the_home_on_the_host(sshd: Sshd) -> None:
    with connected(sshd.marquee()) as way:
        gate = gateway(way, sshd.marquee(), Lease())
        answer = gate.read('echo "$MQCTL_DIR"')
        assert answer.text == f"{sshd.home}/.mqctl/acme/east\n"


def test_large_and_binary_answers_are_quick_and_whole(sshd: Sshd) -> None:
    text = "häß" * 2_000_000
    with connected(sshd.marquee()) as way:
        gate = gateway(way, sshd.marquee(), Lease())
        began = time.monotonic()
        assert gate.read("cat", stdin=text.encode()).text == text
        assert time.monotonic() - began < 10
        both = gate.read("head -c 16000000 /dev/zero; head -c 16000000 /dev/zero >&2")
        assert (len(both.stdout), len(both.stderr)) == (16_000_000, 16_000_000)


def test_input_that_nobody_reads_does_not_hang(sshd: Sshd) -> None:
    with connected(sshd.marquee()) as way:
        assert way.run("exit 3", stdin=b"x" * 5_000_000, limit=10).status == 3


def test_too_large_an_answer_ends_the_command(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mqctl.host.ssh.MAX_OUTPUT", 1_000_000)
    with connected(sshd.marquee()) as way:
        with pytest.raises(TransportBroken, match="1000000 bytes"):
            way.run("cat /dev/zero", limit=20)
        assert way.run("true", limit=5).status == 0


def test_a_deadline_ends_the_wait(sshd: Sshd) -> None:
    with connected(sshd.marquee()) as way:
        began = time.monotonic()
        with pytest.raises(TransportBroken, match="in time"):
            way.run("sleep 60", limit=0.5)
        assert time.monotonic() - began < 10


def test_cancellation_is_noticed_at_once(sshd: Sshd) -> None:
    cancel = CancelToken()
    with connected(sshd.marquee(), cancel) as way:
        Timer(0.4, cancel.cancel, [ExitCode.SIGTERM]).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            way.run("sleep 60", limit=30)
        assert time.monotonic() - began < 10
        assert way.run("echo still", limit=5, heed_cancel=False).status == 0
        with pytest.raises(Cancelled):
            way.run("true", limit=5)


# ---------------- whom we trust


def test_an_unknown_host_key_is_refused_with_the_way_out(sshd: Sshd) -> None:
    marquee = sshd.marquee()
    assert marquee.known_hosts_file is not None
    marquee.known_hosts_file.write_text("")
    with pytest.raises(Refused, match="unknown") as caught, connected(marquee):
        pass
    assert f"[127.0.0.1]:{sshd.port}" in caught.value.why
    listed = subprocess.run(
        ["ssh-keygen", "-lf", f"{sshd.host_key}.pub"], check=True, capture_output=True, text=True
    )
    assert listed.stdout.split()[1] in caught.value.why
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> {marquee.known_hosts_file}" in caught.value.fix
    assert marquee.known_hosts_file.read_text() == ""


def test_a_changed_host_key_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    other = Sshd(tmp_path / "other", tmp_path / "home")
    marquee = sshd.marquee()
    assert marquee.known_hosts_file is not None
    marquee.known_hosts_file.write_text(other.known_hosts(f"[127.0.0.1]:{sshd.port}"))
    with pytest.raises(Refused, match="changed") as caught, connected(marquee):
        pass
    assert f"ssh-keygen -R '[127.0.0.1]:{sshd.port}'" in caught.value.fix


def test_the_users_own_known_hosts_count_without_a_declared_file(sshd: Sshd, home: Path) -> None:
    marquee = sshd.marquee(known_hosts_file=None)
    with pytest.raises(Refused, match="unknown"), connected(marquee):
        pass
    (home / ".ssh/known_hosts").write_text(sshd.known_hosts())
    with connected(marquee) as way:
        assert way.run("true", limit=5).status == 0


def test_strict_checking_cannot_be_configured_away(sshd: Sshd, home: Path) -> None:
    config = "Host *\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n"
    (home / ".ssh/config").write_text(config)
    with pytest.raises(Refused, match="unknown"), connected(sshd.marquee(known_hosts_file=None)):
        pass


def test_a_server_with_several_keys_shows_the_one_we_know(tmp_path: Path) -> None:
    kind = ["ssh-keygen", "-q", "-N", "", "-t"]
    for name in ("ecdsa", "rsa"):
        subprocess.run([*kind, name, "-f", str(tmp_path / name)], check=True)
    options = [f"HostKey {tmp_path / name}" for name in ("ecdsa", "rsa")]
    server = Sshd(tmp_path / "server", tmp_path / "there", options=options)
    with running(server):
        for name in ("ecdsa", "rsa"):
            marquee = server.marquee()
            assert marquee.known_hosts_file is not None
            key = " ".join((tmp_path / f"{name}.pub").read_text().split()[:2])
            marquee.known_hosts_file.write_text(f"[127.0.0.1]:{server.port} {key}\n")
            with connected(marquee) as way:
                assert way.run("true", limit=5).status == 0


# ---------------- who we are


def test_a_key_that_the_host_does_not_know_is_refused(sshd: Sshd, home: Path) -> None:
    stranger = make_key(home / "stranger")
    with (
        pytest.raises(Refused, match="login") as caught,
        connected(sshd.marquee(identity_file=stranger)),
    ):
        pass
    assert "1 key(s) tried" in caught.value.why


def test_an_encrypted_key_asks_nobody(sshd: Sshd, home: Path) -> None:
    locked = home / "locked"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(locked)]
    subprocess.run(make, check=True)
    with pytest.raises(Refused) as caught, connected(sshd.marquee(identity_file=locked)):
        pass
    assert f"{locked} is encrypted" in caught.value.why
    assert "ssh-add" in caught.value.fix


def test_an_encrypted_key_that_the_agent_holds_is_used(
    sshd: Sshd, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = home / "locked"
    locked.write_bytes(sshd.identity.read_bytes())
    locked.chmod(0o600)
    Path(f"{locked}.pub").write_bytes(Path(f"{sshd.identity}.pub").read_bytes())
    agent = home / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(agent)], stdout=subprocess.DEVNULL) as held:
        eventually(agent.exists, "the agent listens")
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        subprocess.run(["ssh-add", "-q", str(locked)], check=True, stderr=subprocess.DEVNULL)
        lock = ["ssh-keygen", "-q", "-p", "-N", "secret", "-f", str(locked)]
        subprocess.run(lock, check=True, stdout=subprocess.DEVNULL)
        for identity in (locked, None):  # named, or simply found in the agent
            with connected(sshd.marquee(identity_file=identity)) as way:
                assert way.run("true", limit=5).status == 0
        held.terminate()


def test_a_missing_key_is_named(sshd: Sshd, home: Path) -> None:
    with pytest.raises(Refused) as caught, connected(sshd.marquee(identity_file=home / "none")):
        pass
    assert f"{home}/none does not exist" in caught.value.why


# ---------------- out of reach


def test_a_name_that_does_not_resolve(sshd: Sshd) -> None:
    marquee = sshd.marquee(host="no-such-host.invalid", policy=QUICK)
    with pytest.raises(Unreachable) as caught, connected(marquee):
        pass
    assert "resolved" in caught.value.why or "no connection within" in caught.value.why


def test_a_port_where_nobody_listens(sshd: Sshd) -> None:
    with (
        pytest.raises(Unreachable, match="cannot connect"),
        connected(sshd.marquee(port=free_port())),
    ):
        pass


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_silent_server_costs_the_time_and_no_more(sshd: Sshd, silent: int) -> None:
    marquee = sshd.marquee(port=silent, policy=type(QUICK)(connect_timeout=0.7))
    began = time.monotonic()
    with pytest.raises(Unreachable), connected(marquee):
        pass
    assert 0.5 < time.monotonic() - began < 10


def test_connecting_can_be_cancelled(sshd: Sshd, silent: int) -> None:
    cancel = CancelToken()
    Timer(0.3, cancel.cancel).start()
    began = time.monotonic()
    with pytest.raises(Cancelled), connected(sshd.marquee(port=silent), cancel):
        pass
    assert time.monotonic() - began < 10


def test_a_server_that_is_no_ssh_server(sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            peer.close()

        threading.Thread(target=serve, daemon=True).start()
        port = server.getsockname()[1]
        with (
            pytest.raises(Unreachable, match="cannot connect"),
            connected(sshd.marquee(port=port, policy=QUICK)),
        ):
            pass


# ---------------- the way


def test_an_alias_of_the_configuration(sshd: Sshd, home: Path) -> None:
    config = f"Host east\n HostName 127.0.0.1\n Port {sshd.port}\n IdentityFile {sshd.identity}\n"
    (home / ".ssh/config").write_text(config + " HostKeyAlias pet\n")
    (home / ".ssh/known_hosts").write_text(sshd.known_hosts("pet"))
    marquee = sshd.marquee(host="east", port=None, identity_file=None, known_hosts_file=None)
    with connected(marquee) as way:
        assert way.run("true", limit=5).status == 0


@pytest.fixture(scope="module")
def gate_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A second SSH server, to jump through."""
    folder = tmp_path_factory.mktemp("gate")
    server = Sshd(folder / "server", folder / "home")
    with running(server):
        yield server


def jump_config(gate: Sshd) -> str:
    return (
        f"Host gate\n HostName 127.0.0.1\n Port {gate.port}\n User root\n"
        f" IdentityFile {gate.identity}\nHost 127.0.0.1\n ProxyJump gate\n"
    )


def test_through_a_jump_host(sshd: Sshd, gate_server: Sshd, home: Path) -> None:
    (home / ".ssh/config").write_text(
        jump_config(gate_server).replace("Host 127.0.0.1", "Host east")
    )
    (home / ".ssh/known_hosts").write_text(gate_server.known_hosts() + sshd.known_hosts("east-key"))
    with (home / ".ssh/config").open("a") as file:
        file.write(f" HostName localhost\n Port {sshd.port}\n HostKeyAlias east-key\n")
    marquee = sshd.marquee(host="east", port=None, known_hosts_file=None)
    with connected(marquee) as way:
        assert way.run("echo $SSH_CONNECTION", limit=5).stdout.count(str(sshd.port).encode()) == 1
        assert "direct-tcpip" in gate_server.log or gate_server.sessions()


def test_through_a_command_of_the_configuration(sshd: Sshd, gate_server: Sshd, home: Path) -> None:
    known = home / "gate_known"
    known.write_text(gate_server.known_hosts())
    options = f"-F none -i {gate_server.identity} -o UserKnownHostsFile={known}"
    command = f"ssh {options} -p {gate_server.port} root@127.0.0.1 -W %h:%p"
    config = f"Host 127.0.0.1\n Port {sshd.port}\n ProxyCommand {command}\n"
    (home / ".ssh/config").write_text(config)
    with connected(sshd.marquee()) as way:
        assert way.run("true", limit=5).status == 0


def test_a_jump_host_is_verified_as_strictly(sshd: Sshd, gate_server: Sshd, home: Path) -> None:
    config = jump_config(gate_server).replace("Host 127.0.0.1", "Host east")
    (home / ".ssh/config").write_text(config + " HostName localhost\n")
    (home / ".ssh/known_hosts").write_text("")
    with (
        pytest.raises(Refused, match=r"host key of .* is unknown"),
        connected(sshd.marquee(host="east")),
    ):
        pass
