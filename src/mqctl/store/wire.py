"""One connection to Redis, and one deadline over everything an operation does on it.

redis-py gives the protocol (login, packing, parsing). Its *client* is left out, because that is
where retries live: a ``SET NX`` that is sent twice after a lost answer finds its own key. Its
timeouts are replaced, because they start anew with every byte that trickles in.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from typing import Any

from redis._parsers import _RESP2Parser  # the same parser everywhere, with or without hiredis
from redis.backoff import NoBackoff
from redis.connection import Connection
from redis.exceptions import InvalidResponse, RedisError
from redis.retry import Retry

from mqctl.store.address import Address

MOST_BYTES = 16 * 2**20  # of one operation's answer; ours are small, so more is not Redis
KEEPALIVE_IDLE = 30  # seconds; keeps a stateful firewall from forgetting us during a long step


class Budget:
    """The time and the bytes that one operation may use up. Seconds by the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.restart()

    def restart(self) -> None:
        """A new operation begins."""
        self._end = time.monotonic() + self.seconds
        self._bytes = MOST_BYTES

    def left(self) -> float:
        """Seconds left.

        Raises:
            TimeoutError: none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"longer than {self.seconds:g} s")
        return left

    def take(self, count: int) -> None:
        """Count received bytes.

        Raises:
            InvalidResponse: more than any answer of Redis to mqctl.
        """
        self._bytes -= count
        if self._bytes < 0:
            raise InvalidResponse(f"the answer is longer than {MOST_BYTES} bytes")


class BoundedSocket:
    """What redis-py needs of a socket, under a :class:`Budget`."""

    def __init__(self, sock: socket.socket, budget: Budget) -> None:
        self._sock = sock
        self._budget = budget
        self._polling = False

    def settimeout(self, seconds: float | None) -> None:
        """Zero: only look whether something is there. Anything else: the budget counts."""
        self._polling = seconds == 0

    def recv(self, size: int) -> bytes:
        """Receive what is there, waiting no longer than the budget lasts."""
        self._sock.settimeout(0 if self._polling else self._budget.left())
        data = self._sock.recv(size)
        self._budget.take(len(data))
        return data

    def sendall(self, data: bytes) -> None:
        """Send all of it within the budget."""
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(self._budget.left())
            rest = rest[self._sock.send(rest) :]

    def shutdown(self, how: int) -> None:
        """As the socket does."""
        self._sock.shutdown(how)

    def close(self) -> None:
        """As the socket does."""
        self._sock.close()


class _Connection(Connection):
    """redis-py's connection with our dialling."""

    address: Address
    budget: Budget

    def _connect(self) -> BoundedSocket:
        return BoundedSocket(dial(self.address, self.budget), self.budget)

    def _host_error(self) -> str:
        return str(self.address)


class Wire:
    """One connection, opened when needed; no second try of anything."""

    def __init__(self, address: Address, budget: Budget, *, password: str | None) -> None:
        make: Any = _Connection  # redis-py annotates only half of its classes
        self._connection: Any = make(
            host=address.host,
            port=address.port,
            db=address.database,
            username=address.username,
            password=password,
            socket_timeout=budget.seconds,
            socket_connect_timeout=budget.seconds,
            retry=Retry(NoBackoff(), 0),
            retry_on_timeout=False,
            retry_on_error=[],
            health_check_interval=0,
            protocol=2,
            decode_responses=False,
            parser_class=_RESP2Parser,
            driver_info=None,  # no CLIENT SETINFO: one permission and two round trips less
        )
        self._connection.address = address
        self._connection.budget = budget
        self._handshake = bool(address.username or password) + bool(address.database)
        self.sent = 0

    def open(self) -> None:
        """Connect and log in, unless an open connection is good for another request.

        It is, if it is silent: a byte that waits there would be read as the next answer, and an end
        of file (an idle connection that Redis closed) must not count as a lost answer.
        """
        connection = self._connection
        if connection.is_connected:
            try:
                if not connection.can_read(0):
                    return
            except (RedisError, OSError):
                pass
            self.close()
        self.sent += self._handshake
        connection.connect()

    def close(self) -> None:
        """Close the connection; :meth:`open` makes a new one."""
        self._connection.disconnect()

    def exchange(self, commands: Sequence[Sequence[str | bytes | int]]) -> list[Any]:
        """Send the commands together and read as many answers."""
        connection = self._connection
        self.sent += len(commands)
        connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        return [connection.read_response() for _ in commands]


def dial(address: Address, budget: Budget) -> socket.socket:
    """Connect within the budget: name resolution, every address of it, and TLS included.

    Raises:
        OSError: among them ``gaierror``, ``TimeoutError`` and ``SSLCertVerificationError``.
    """
    if address.path is not None:
        return _connected(socket.AF_UNIX, str(address.path), budget.left())
    sock = _dial_any(_resolve(address.host, address.port, budget), budget)
    if not address.tls:
        return sock
    try:
        sock.settimeout(budget.left())
        return ssl.create_default_context().wrap_socket(sock, server_hostname=address.host)
    except BaseException:
        sock.close()
        raise


_Candidate = tuple[socket.AddressFamily, tuple[Any, ...]]


def _dial_any(candidates: list[_Candidate], budget: Budget) -> socket.socket:
    failure: OSError = OSError("the name has no address")
    for position, (family, where) in enumerate(candidates):
        try:  # an address that swallows packets must leave time for the next one
            sock = _connected(family, where, budget.left() / (len(candidates) - position))
        except OSError as error:
            failure = error
            continue
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_IDLE)
        return sock
    raise failure


def _connected(
    family: socket.AddressFamily, where: str | tuple[Any, ...], seconds: float
) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(where)
    except BaseException:
        sock.close()
        raise
    return sock


def _resolve(host: str, port: int, budget: Budget) -> list[_Candidate]:
    """Ask the resolver in a thread of its own: it knows no limit, and we do."""
    answer: queue.SimpleQueue[list[_Candidate] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            answer.put(error if isinstance(error, OSError) else socket.gaierror(str(error)))
        else:
            answer.put([(family, where) for family, _, _, _, where in found])

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        outcome = answer.get(timeout=budget.left())
    except queue.Empty:
        raise TimeoutError(f"the name {host} was not resolved in time") from None
    if isinstance(outcome, OSError):
        raise outcome
    return outcome
