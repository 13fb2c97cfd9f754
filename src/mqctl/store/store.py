"""One Redis, asked by one thread over one connection; no request is ever sent twice."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeAlias

from mqctl.clock import Clock
from mqctl.model import RedisSettings
from mqctl.secret import Secret
from mqctl.store import embedded
from mqctl.store.address import Address
from mqctl.store.failures import EXPECTED, Garbled, explain
from mqctl.store.keys import Keys, window
from mqctl.store.memory import Memory
from mqctl.store.wire import Budget, Wire

Argument: TypeAlias = str | bytes | int
Command: TypeAlias = Sequence[Argument]
Reply: TypeAlias = "int | bytes | list[Reply] | None"


class Store:
    """A Redis under the rules of a lock.

    Every operation (connecting, the name service and the login included) ends within ``timeout``
    seconds. A connection on which anything went wrong is closed at once; the next operation opens
    a new one. Not for several threads: give each its own, with :meth:`fresh`.
    """

    def __init__(
        self, address: Address, *, timeout: float, password: Secret | None, clock: Clock
    ) -> None:
        self.address = address
        self.timeout = timeout
        self.clock = clock
        self._password = password
        self._budget = Budget(timeout)
        self._wire = Wire(
            address, self._budget, password=None if password is None else password.reveal()
        )

    @classmethod
    def open(
        cls,
        settings: RedisSettings,
        *,
        clock: Clock,
        environ: Mapping[str, str] | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> Self:
        """Read the password and, for ``embedded``, see to the private server; connect later.

        Args:
            settings: where, and how long an operation may take.
            clock: stamps what is written to the history.
            environ: where a secret by ``env`` and ``HOME`` are looked up.
            notice: told, in one sentence, that the Redis is an embedded one.

        Raises:
            ConfigError: the URL or the password is unusable.
            Unreachable: the embedded server cannot be started.
        """
        environ = os.environ if environ is None else environ
        if settings.url == embedded.URL:
            address = embedded.ensure(embedded.directory(environ), notice=notice)
            return cls(address, timeout=settings.timeout, password=None, clock=clock)
        address = Address.parse(settings.url)
        password = settings.password.read(environ) if settings.password else None
        return cls(address, timeout=settings.timeout, password=password, clock=clock)

    def fresh(self) -> Self:
        """The same Redis over a connection of its own."""
        return type(self)(
            self.address, timeout=self.timeout, password=self._password, clock=self.clock
        )

    def drop(self) -> None:
        """Close the connection; the next operation opens a new one."""
        self._wire.close()

    close = drop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def commands(self) -> int:
        """How many commands were sent, logins included."""
        return self._wire.sent

    # ----------------------------------------------------------------------- asking

    def call(self, *command: Argument) -> Reply:
        """Send one command and give its answer.

        Raises:
            Unreachable: nothing was sent, or (:class:`AnswerLost`) its fate is open.
            Unfit, Refused: Redis answered with an error.
        """
        return self.pipeline([command])[0]

    def eval(self, script: str, keys: Sequence[str], args: Sequence[Argument] = ()) -> Reply:
        """Run a Lua script, its body included each time. Raises what :meth:`call` raises."""
        return self.call("EVAL", script, len(keys), *keys, *args)

    def pipeline(self, commands: Sequence[Command]) -> list[Reply]:
        """Send several commands in one round trip. Raises the first error among the answers."""
        if not commands:
            return []
        self._budget.restart()
        sent = False
        try:
            self._wire.open()
            sent = True
            return self._wire.exchange(commands)
        except BaseException as error:
            self.drop()
            if isinstance(error, EXPECTED):
                raise explain(error, str(self.address), sent=sent) from error
            raise

    def time_ms(self) -> int:
        """The server's wall clock, milliseconds since the epoch."""
        match self.call("TIME"):
            case [bytes(seconds), bytes(micros)] if seconds.isdigit() and micros.isdigit():
                return int(seconds) * 1000 + int(micros) // 1000
        raise Garbled(f"Redis at {self.address} does not tell the time")

    # ----------------------------------------------------------------------- remembering

    def memory(self, fleet: str, marquee: str) -> Memory:
        """What is remembered about one Marquee."""
        return Memory(self, Keys(fleet, marquee))

    def dispatch_window(self, digest: str, seconds: float) -> bool:
        """Open a trigger's window; False if it is open already.

        When the answer is lost (:class:`AnswerLost`) it may be open: do not dispatch.
        """
        for_seconds = max(1, math.ceil(seconds))
        return self.call("SET", window(digest), "1", "NX", "EX", for_seconds) is not None
