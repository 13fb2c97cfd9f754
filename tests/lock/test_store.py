"""Connections: where they go, how long they may take, and what each failure is called."""

from __future__ import annotations

import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mqctl.clock import Clock
from mqctl.errors import ConfigError, LockLost, MqctlError, Refused, Unreachable
from mqctl.model import RedisSettings
from mqctl.secret import SecretRef
from mqctl.store import Address, AnswerLost, Garbled, Store, Unfit
from tests.lock.conftest import take
from tests.lock.proxy import Listener
from tests.lock.server import RedisServer, free_port

TIMEOUT = 0.4


def opened(url: str, *, password: str | None = None, timeout: float = TIMEOUT) -> Store:
    reference = None if password is None else SecretRef(env="MQ_PASSWORD")
    environ = {"MQ_PASSWORD": password or ""}
    return Store.open(RedisSettings(url, reference, timeout), clock=Clock(), environ=environ)


# --------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://localhost", Address("localhost")),
        ("redis://localhost:6380/2", Address("localhost", 6380, database=2)),
        ("redis://ann@db.example.com", Address("db.example.com", username="ann")),
        ("rediss://db.example.com:6380/", Address("db.example.com", 6380, tls=True)),
        ("redis://[::1]:6380/0", Address("::1", 6380)),
        ("unix:///run/redis.sock", Address(path=Path("/run/redis.sock"))),
        ("unix:///run/my%20redis.sock?db=3", Address(path=Path("/run/my redis.sock"), database=3)),
    ],
)
def test_urls_that_name_a_redis(url: str, address: Address) -> None:
    assert Address.parse(url) == address


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:6379", "http://localhost", "redis://", "redis:///0", "unix://"),
        *("redis://h:port", "redis://h:99999", "redis://h/zero", "redis://h?retry_on_timeout=1"),
        *("redis://:secret@h", "redis://ann:secret@h", "unix:///s?timeout=1", "redis://[::1"),
    ],
)
def test_urls_that_do_not(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        Address.parse(url)
    assert "secret" not in error.value.why


def test_an_address_prints_as_a_url() -> None:
    assert str(Address("::1", 6380, database=1)) == "redis://[::1]:6380/1"
    assert str(Address("h", tls=True, username="ann")) == "rediss://h:6379/0"
    assert str(Address(path=Path("/s"), database=2)) == "unix:///s?db=2"


def test_every_way_to_connect_reaches_the_same_redis(server: RedisServer) -> None:
    port = server.port
    urls = (server.url, server.tcp, f"redis://localhost:{port}", f"redis://[::1]:{port}/0")
    for position, url in enumerate(urls, start=1):
        with opened(url) as store:
            assert store.eval("return redis.call('INCR', KEYS[1])", ["mqctl:count"]) == position


def test_a_database_is_selected(server: RedisServer) -> None:
    with opened(f"redis://127.0.0.1:{server.port}/3") as store:
        store.call("SET", "mqctl:x", "1")
        assert store.commands == 2
    assert server.hand.info("keyspace")["db3"]["keys"] == 1


def test_a_fresh_store_has_a_connection_of_its_own(server: RedisServer) -> None:
    with server.store() as store, store.fresh() as other:
        assert (store.time_ms() > 0, other.time_ms() > 0) == (True, True)
        assert server.hand.info("clients")["connected_clients"] >= 3


# --------------------------------------------------------------------------- nobody answers


def test_nothing_listens() -> None:
    with opened(f"redis://127.0.0.1:{free_port()}") as store:
        with pytest.raises(Unreachable, match="nothing listens") as error:
            store.time_ms()
        assert not isinstance(error.value, AnswerLost)


def test_no_socket_file(tmp_path: Path) -> None:
    with opened(f"unix://{tmp_path}/none") as store, pytest.raises(Unreachable, match="listens"):
        store.time_ms()


def test_a_name_that_does_not_exist() -> None:
    before = time.monotonic()
    with opened("redis://name.invalid") as store, pytest.raises(Unreachable):
        store.time_ms()
    assert time.monotonic() - before < TIMEOUT + 0.3


def test_a_name_service_that_hangs_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> list[object]:
        time.sleep(1)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    before = time.monotonic()
    with opened("redis://example.com") as store, pytest.raises(Unreachable, match="in time"):
        store.time_ms()
    assert time.monotonic() - before < TIMEOUT + 0.3


def trickle(connection: socket.socket) -> None:
    connection.recv(100)
    for byte in b"+" + b"x" * 1000:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def say_nothing(connection: socket.socket) -> None:
    connection.recv(100)
    time.sleep(3)


@pytest.mark.parametrize("handler", [trickle, say_nothing])
def test_an_operation_ends_in_time_however_slowly_it_is_answered(
    handler: Callable[[socket.socket], None],
) -> None:
    with Listener(handler) as listener, opened(listener.url) as store:
        before = time.monotonic()
        with pytest.raises(AnswerLost, match="in time"):
            store.time_ms()
        assert time.monotonic() - before < TIMEOUT + 0.3


def test_a_login_that_is_answered_slowly_counts_as_well() -> None:
    with Listener(trickle) as listener, opened(listener.url, password="opensesame") as store:
        before = time.monotonic()
        with pytest.raises(Unreachable, match="in time") as error:
            store.time_ms()
        assert time.monotonic() - before < TIMEOUT + 0.3
        assert not isinstance(error.value, AnswerLost), "the request itself was not sent"


# --------------------------------------------------------------------------- it is no Redis


def saying(answer: bytes) -> Callable[[socket.socket], None]:
    def handler(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(answer)

    return handler


def endless_line(connection: socket.socket) -> None:
    connection.recv(65536)
    while True:
        connection.sendall(b"x" * 2**20)


def endless_string(connection: socket.socket) -> None:
    connection.sendall(b"$2000000000\r\n")
    endless_line(connection)


GARBAGE = [
    *(b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00\xff\xfe\r\n"),
    *(b":many\r\n", b"$x\r\n", b"*x\r\n", b"*2\r\n+a\r\n?\r\n", b"*1\r\n" * 5000, b"-\r\n"),
    *(b"+OK\r\n", b":1\r\n", b"$-1\r\n", b"*0\r\n", b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
    b"-ERR upstream failure\r\n",
]


@pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: repr(answer[:20]))
def test_garbage_is_no_time_and_its_fate_is_open(answer: bytes) -> None:
    with Listener(saying(answer)) as listener, opened(listener.url) as store:
        with pytest.raises(Garbled):
            store.time_ms()
        with pytest.raises(AnswerLost):
            store.time_ms()


@pytest.mark.parametrize("handler", [endless_line, endless_string])
def test_an_endless_answer_is_cut_off(handler: Callable[[socket.socket], None]) -> None:
    before = time.monotonic()
    with (
        Listener(handler) as listener,
        opened(listener.url, timeout=1) as store,
        pytest.raises(AnswerLost),
    ):
        store.time_ms()
    assert time.monotonic() - before < 1.5


@pytest.mark.parametrize(
    "answer",
    [
        b"+renewed\r\n",
        b"*2\r\n$7\r\nrenewed\r\n:1\r\n",
        b"*3\r\n$7\r\nrenewed\r\n:1\r\n$1\r\n2\r\n",
        b"*3\r\n$7\r\nrenewed\r\n:1\r\n$2\r\n-1\r\n",
        b"*3\r\n$8\r\nacquired\r\n:1\r\n$1\r\n1\r\n",
        b"*0\r\n",
        b"$-1\r\n",
    ],
)
def test_anything_but_the_exact_confirmation_is_a_loss(server: RedisServer, answer: bytes) -> None:
    with server.store() as store:
        lease = take(store)
        assert lease.fence == 1
        with Listener(saying(answer)) as listener, opened(listener.url) as liar:
            lease._store = liar
            with pytest.raises(LockLost):
                lease.renew("images")


def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next_one() -> None:
    def talkative(connection: socket.socket) -> None:
        for number in (b"1", b"2"):
            connection.recv(65536)
            connection.sendall(b":" + number + b"\r\n" + b":99\r\n")

    with Listener(talkative) as listener, opened(listener.url) as store:
        assert store.call("GET", "mqctl:x") == 1
        time.sleep(0.05)
        assert store.call("GET", "mqctl:x") == 1, "over a new connection"


# --------------------------------------------------------------------------- it says no


def test_a_wrong_password_and_a_missing_one(own_server: RedisServer) -> None:
    own_server.hand.config_set("requirepass", "opensesame")
    for password in ("wrong-password", None):
        with opened(own_server.url, password=password) as store:
            with pytest.raises(Refused, match="login") as error:
                store.time_ms()
            assert "wrong-password" not in f"{error.value.what}{error.value.why}{error.value.fix}"
    with opened(own_server.url, password="opensesame") as store:
        take(store).renew("images")


def test_a_password_that_nobody_asked_for(server: RedisServer) -> None:
    with opened(server.url, password="opensesame") as store, pytest.raises(Refused, match="login"):
        store.time_ms()


@pytest.mark.parametrize(
    ("answer", "kind", "what"),
    [
        (b"-LOADING Redis is loading the dataset in memory", Unfit, "loading"),
        (b"-MASTERDOWN Link with MASTER is down", Unfit, "replica"),
        (b"-MOVED 3999 127.0.0.1:6381", Unfit, "Cluster is not supported"),
        (b"-CLUSTERDOWN The cluster is down", Unfit, "Cluster is not supported"),
        (b"-MISCONF Redis is configured to save RDB snapshots", Unfit, "no writes"),
        (b"-NOREPLICAS Not enough good replicas to write.", Unfit, "no writes"),
        (b"-BUSY Redis is busy running a script.", Unfit, "busy"),
        (b"-ERR max number of clients reached", Unfit, "no connection left"),
        (b"-DENIED Redis is running in protected mode", Refused, "protected mode"),
        (b"-ERR Error running script: @user_script: 9: -READONLY You can't", Unfit, "read-only"),
        (b"-NOPERM this user has no permissions to run the 'eval' command", Refused, "command"),
    ],
)
def test_an_error_answer_is_explained_and_means_that_nothing_was_done(
    answer: bytes, kind: type[MqctlError], what: str
) -> None:
    with Listener(saying(answer + b"\r\n")) as listener, opened(listener.url) as store:
        with pytest.raises(kind, match=what) as error:
            store.eval("return 1", ["mqctl:x"])
        assert not isinstance(error.value, AnswerLost)
        assert error.value.fix


# --------------------------------------------------------------------------- TLS


def test_a_certificate_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext"),
            *("subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def secure(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            saying(b"*2\r\n$2\r\n10\r\n$4\r\n5000\r\n")(wrapped)

    with Listener(secure) as listener:
        port = listener.url.rpartition(":")[2]
        with opened(f"rediss://localhost:{port}") as store, pytest.raises(Refused, match="trusted"):
            store.time_ms()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with opened(f"rediss://localhost:{port}") as store:
            assert (store.time_ms(), store.time_ms()) == (10005, 10005)
        with opened(f"rediss://127.0.0.1:{port}") as store, pytest.raises(Refused):
            store.time_ms()
