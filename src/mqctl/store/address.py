"""Where a Redis is, read from a URL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from mqctl.errors import ConfigError

DEFAULT_PORT = 6379


@dataclass(frozen=True, slots=True)
class Address:
    """A Redis server: over TCP (``host`` and ``port``) or on a unix socket (``path``)."""

    host: str = ""
    port: int = DEFAULT_PORT
    path: Path | None = None
    tls: bool = False
    database: int = 0
    username: str | None = None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Read ``redis://[user@]host[:port][/db]``, ``rediss://...`` or ``unix:///path[?db=n]``.

        IPv6 addresses stand in brackets.

        Raises:
            ConfigError: another scheme, a password in it, a bad port or database, an option.
        """
        try:
            parts = urlsplit(url)
            if parts.password is not None:
                raise _refused(
                    "a password stands in the URL", "move it to redis.password: {env: NAME}"
                )
            match parts.scheme:
                case "redis" | "rediss":
                    return cls._tcp(parts)
                case "unix":
                    return cls._unix(parts)
        except ValueError as error:
            raise _refused(str(error)) from None
        raise _refused(f"the scheme is {parts.scheme or 'missing'}")

    @classmethod
    def _tcp(cls, parts: SplitResult) -> Address:
        if not parts.hostname:
            raise _refused("there is no host in it")
        if parts.query or parts.fragment:
            raise _refused("it has options, and connections are not configured that way")
        return cls(
            host=parts.hostname,
            port=DEFAULT_PORT if parts.port is None else parts.port,
            tls=parts.scheme == "rediss",
            database=_database(parts.path.strip("/")),
            username=unquote(parts.username) if parts.username else None,
        )

    @classmethod
    def _unix(cls, parts: SplitResult) -> Address:
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        database = _database(options.pop("db", ""))
        if options or parts.fragment:
            raise _refused("db is the only option of a unix socket")
        if not parts.path:
            raise _refused("there is no path in it")
        return cls(
            path=Path(unquote(parts.path)),
            database=database,
            username=unquote(parts.username) if parts.username else None,
        )

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix://{self.path}" + (f"?db={self.database}" if self.database else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'rediss' if self.tls else 'redis'}://{host}:{self.port}/{self.database}"


def _database(text: str) -> int:
    if text and not (text.isascii() and text.isdigit()):
        raise _refused(f"the database {text!r} is no number")
    return int(text or 0)


def _refused(why: str, fix: str = "") -> ConfigError:
    return ConfigError(
        "redis.url cannot be used",
        why=why,
        fix=fix or "write redis://HOST:PORT/DB, rediss://HOST:PORT/DB, unix:///PATH or embedded",
    )
