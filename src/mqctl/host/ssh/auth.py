"""Who we are to an SSH server: keys, from files or the agent. Nobody is ever asked anything."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from paramiko import Agent, PKey, Transport
from paramiko.auth_strategy import AuthFailure, AuthResult, AuthStrategy, InMemoryPrivateKey
from paramiko.config import SSHConfig
from paramiko.ssh_exception import (
    AuthenticationException,
    PasswordRequiredException,
    SSHException,
)

from mqctl.errors import Refused, Unreachable
from mqctl.host.ssh.config import Hop


class KeysOnly(AuthStrategy):
    """Public keys in the order of OpenSSH: the identities of the configuration, then the agent.

    An identity whose file is encrypted is used if the agent holds that key. Passwords and
    passphrases do not exist here, so nothing can prompt (Fabric's own strategy does).
    """

    def __init__(self, hop: Hop) -> None:
        super().__init__(ssh_config=SSHConfig())
        self._hop = hop
        self._notes: list[str] = []

    def get_sources(self) -> Iterator[InMemoryPrivateKey]:
        """Each key once."""
        agent = Agent()
        try:
            held = {key.asbytes(): key for key in agent.get_keys()}
            keys = {key.asbytes(): key for key in self._identities(held)}
            for key in (keys | held if self._hop.agent_too else keys).values():
                yield InMemoryPrivateKey(self._hop.user, key)
        finally:
            with suppress(OSError):
                agent.close()

    def authenticate(self, transport: Transport) -> AuthResult:
        """Try them all.

        Raises:
            Refused: the server takes none of them, or there are none.
            Unreachable: the connection broke meanwhile.
        """
        try:
            return super().authenticate(transport)  # type: ignore[return-value]  # the stub's slip
        except AuthFailure as failure:
            answers = [entry.result for entry in failure.result]
            if answers and not any(_is_refusal(answer) for answer in answers):
                why = str(answers[-1]) or type(answers[-1]).__name__
                raise Unreachable(f"SSH login at {self._hop} was cut off", why=why) from None
            tried = f"{len(answers)} key(s) tried, none accepted" if answers else "no key to try"
            raise Refused(
                f"SSH login as {self._hop} was refused",
                why="; ".join([tried, *self._notes]),
                fix=f"add the public key to ~{self._hop.user}/.ssh/authorized_keys there;"
                " a key with a passphrase must be in the agent (ssh-add)",
            ) from None

    def _identities(self, held: Mapping[bytes, PKey]) -> Iterator[PKey]:
        for path in self._hop.identities:
            key = self._load(path) or held.get(_public_blob(path))
            if key is not None:
                yield key

    def _load(self, path: Path) -> PKey | None:
        try:
            return PKey.from_path(path)
        except FileNotFoundError:
            if not self._hop.agent_too:  # else it is one of many that may exist
                self._notes.append(f"{path} does not exist")
        except (TypeError, PasswordRequiredException):  # the former by cryptography itself
            self._notes.append(f"{path} is encrypted")
        except Exception as error:  # noqa: BLE001 - paramiko's UnknownKeyType is a bare Exception
            self._notes.append(f"{path} is no usable private key ({type(error).__name__})")
        return None


def _is_refusal(answer: object) -> bool:
    """No answer in time is called an authentication failure, too."""
    return isinstance(answer, AuthenticationException) and "timeout" not in str(answer).lower()


def _public_blob(path: Path) -> bytes:
    """The public half beside an encrypted key, or a public key that is named as the identity."""
    for file in (path.with_name(path.name + ".pub"), path):
        with suppress(OSError, UnicodeDecodeError, ValueError, SSHException, IndexError):
            kind, blob = file.read_text("ascii").split()[:2]
            if not kind.startswith("-"):
                return base64.b64decode(blob, validate=True)
    return b""
