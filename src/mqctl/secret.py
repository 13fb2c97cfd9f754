"""Secrets: read late, printed as ``***``, masked in everything that leaves.

The declared file holds only references (:class:`SecretRef`). A value that was read becomes a
:class:`Secret` and is remembered by the process-wide :data:`MASK`, through which every stream,
report and crash report passes (as Kamal's ``Sensitive`` does for one command line).
"""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mqctl.errors import ConfigError

SHOWN = "***"


class Mask:
    """Replaces every secret that was ever read in a text that leaves the process."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._lock = threading.Lock()

    def add(self, value: str) -> None:
        """Remember a value, and each of its lines; very short ones would mask ordinary text."""
        candidates = {value, value.strip(), *value.splitlines()}
        with self._lock:
            self._values |= {text for text in candidates if len(text) >= 4}  # noqa: PLR2004
            longest_first = sorted(self._values, key=len, reverse=True)
            if longest_first:
                self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def __call__(self, text: str) -> str:
        """Give ``text`` with every known secret as ``***``."""
        return self._pattern.sub(SHOWN, text) if self._pattern else text


MASK = Mask()


class Secret:
    """A secret value that does not print."""

    __slots__ = ("_value",)

    def __init__(self, value: str, *, mask: Mask = MASK) -> None:
        mask.add(value)
        self._value = value

    def reveal(self) -> str:
        """The value itself; call it at the last moment, where it is written to its receiver."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({SHOWN})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Where a secret is: an environment variable or a file. Exactly one of the two is set.

    ``path`` is absolute, or relative to ``$CREDENTIALS_DIRECTORY`` (systemd's ``LoadCredential``)
    when that is set and holds it.
    """

    env: str | None = None
    path: Path | None = None

    def __str__(self) -> str:
        return f"env {self.env}" if self.env is not None else f"file {self.path}"

    def read(self, environ: Mapping[str, str] | None = None) -> Secret:
        """Read the value.

        Raises:
            ConfigError: the variable is not set, or the file is missing, unreadable, or readable
                by group or world.
        """
        environ = os.environ if environ is None else environ
        if self.env is not None:
            value = environ.get(self.env)
            if not value:
                raise ConfigError(
                    f"the secret {self} is not there",
                    why=f"the environment variable {self.env} is unset or empty",
                    fix=f"export {self.env} before the run",
                )
            return Secret(value)
        return Secret(self._read_file(environ))

    def _read_file(self, environ: Mapping[str, str]) -> str:
        path = self._locate(environ)
        try:
            with path.open(encoding="utf-8") as file:
                mode = os.fstat(file.fileno()).st_mode
                if mode & (stat.S_IRWXG | stat.S_IRWXO):
                    raise ConfigError(
                        f"the secret {self} is refused",
                        why=f"group or world can read it (mode {stat.S_IMODE(mode):04o})",
                        fix=f"chmod 600 {path}",
                    )
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the secret {self} cannot be read", why=str(error), fix="correct the path"
            ) from None
        # An editor ends a file with a newline that is no part of a password; a key needs its own.
        return text if text.startswith("-----BEGIN") else text.rstrip("\r\n")

    def _locate(self, environ: Mapping[str, str]) -> Path:
        assert self.path is not None  # noqa: S101 - the config module sets exactly one
        directory = environ.get("CREDENTIALS_DIRECTORY")
        if directory and (Path(directory) / self.path.name).is_file() and not self.path.exists():
            return Path(directory) / self.path.name
        return self.path.expanduser()
