"""From a route to authenticated Fabric connections, with every host key verified."""

from __future__ import annotations

import logging
import socket
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import paramiko
from fabric import Config, Connection
from paramiko.ssh_exception import SSHException

from mqctl.errors import Refused, Unreachable
from mqctl.host.ssh.auth import KeysOnly
from mqctl.host.ssh.bounded import detached
from mqctl.host.ssh.config import Hop
from mqctl.host.ssh.known_hosts import KnownHost, Trust, look_up

# paramiko reports through logging what it also raises; without a handler Python prints that.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

KEEPALIVE = 5
"""Seconds between keepalives. They make the kernel notice that nobody answers any more."""

DEAD_AFTER = 20
"""Seconds after which unanswered data ends a connection (``TCP_USER_TIMEOUT``)."""


class Chain:
    """Connections through each other; the last one is the Marquee's."""

    def __init__(self, hops: Sequence[Hop], *, timeout: float) -> None:
        self._hops = hops
        self._timeout = timeout
        self._connections: list[Connection] = []

    def open(self) -> Chain:
        """Connect hop by hop. Blocks: each step has the whole time, so bound it from outside.

        Raises:
            Refused: a host key, or all of our keys.
            Unreachable: anything else; what is open is closed again.
        """
        try:
            for hop in self._hops:
                self._open(hop)
        except BaseException:
            self.close()
            raise
        return self

    @property
    def transport(self) -> paramiko.Transport:
        """The transport to the Marquee, as paramiko has it."""
        transport: paramiko.Transport = self._connections[-1].transport
        return transport

    @property
    def alive(self) -> bool:
        """Whether it was opened and did not break yet, as far as is known."""
        return bool(self._connections) and all(one.is_connected for one in self._connections)

    def close(self) -> None:
        """Close all, last first; whoever does not let go in two seconds is left to the process."""
        for connection in reversed(self._connections):
            detached(connection.client.close).join(timeout=2.0 / len(self._connections))

    def _open(self, hop: Hop) -> None:
        known = _known(hop)
        gateway = self._connections[-1] if self._connections else (hop.proxy_command or False)
        connection = Connection(
            hop.host,
            user=hop.user,
            port=hop.port,
            gateway=gateway,
            forward_agent=False,
            # What a configuration of Fabric or a second reading of ssh_config would add is decided.
            config=Config(lazy=True, ssh_config=paramiko.SSHConfig()),
            connect_kwargs={
                "auth_strategy": KeysOnly(hop),
                "transport_factory": _Factory(known),
                "banner_timeout": self._timeout,
                "auth_timeout": self._timeout,
                "channel_timeout": self._timeout,
            },
        )
        connection.connect_timeout = self._timeout  # the constructor's argument is cut to an int
        connection.client.set_missing_host_key_policy(_Strict(hop, known))
        self._connections.append(connection)
        try:
            connection.open()
        except (Refused, Unreachable):
            raise
        except (OSError, SSHException, EOFError) as error:
            raise Unreachable(f"cannot connect to {hop}", why=_reason(error)) from None
        _watch(connection.transport)


class _Strict(paramiko.MissingHostKeyPolicy):
    """Asked for every host, since paramiko is given no keys of its own to compare with."""

    def __init__(self, hop: Hop, known: KnownHost) -> None:
        self._hop = hop
        self._known = known

    def missing_host_key(self, client: Any, hostname: str, key: paramiko.PKey) -> None:
        del client, hostname  # what was asked for is ours to know
        trust = self._known.judge(key.get_name(), key.asbytes())
        if trust is Trust.KNOWN:
            return
        hop, name = self._hop, self._known.name
        files = " ".join(str(file) for file in self._known.files)
        offer = f"it offers {key.get_name()} {fingerprint(key)}"
        learn = f"ssh-keyscan -p {hop.port} {hop.host} >> {self._known.files[0]}"
        if trust is Trust.UNKNOWN:
            raise Refused(
                f"the SSH host key of {hop.host} is unknown",
                why=f"{offer}; no line for {name} in {files}",
                fix=f"compare the fingerprint with the host's own, then: {learn}",
            )
        if trust is Trust.REVOKED:
            raise Refused(f"the SSH host key of {hop.host} is revoked", why=f"{offer}; {files}")
        raise Refused(
            f"the SSH host key of {hop.host} has changed",
            why=f"{offer}, which is none of those known for {name} in {files}:"
            " it was installed anew, or somebody is in between",
            fix="only if you know why: "
            f"ssh-keygen -R '{name}' -f {self._known.files[0]} && {learn}",
        )


class _Factory:
    """Makes paramiko ask for the key types that we can check before all others."""

    def __init__(self, known: KnownHost) -> None:
        self._known = known

    def __call__(self, sock: Any, *, disabled_algorithms: Any = None) -> paramiko.Transport:
        transport = paramiko.Transport(sock, disabled_algorithms=disabled_algorithms)
        options = transport.get_security_options()
        options.key_types = sorted(options.key_types, key=lambda kind: not self._knows(kind))
        return transport

    def _knows(self, kind: str) -> bool:
        return ("ssh-rsa" if kind.startswith("rsa-sha2-") else kind) in self._known.kinds


def _known(hop: Hop) -> KnownHost:
    try:
        return look_up(hop.known_hosts_files, hop.host, hop.port, alias=hop.host_key_alias)
    except OSError as error:
        raise Refused(
            f"the host key of {hop.host} cannot be checked",
            why=str(error),
            fix="make the known_hosts file readable",
        ) from None


def fingerprint(key: paramiko.PKey) -> str:
    """As ``ssh-keygen -l`` shows it."""
    return "SHA256:" + b64encode(sha256(key.asbytes()).digest()).decode().rstrip("=")


def _watch(transport: paramiko.Transport) -> None:
    """A keepalive is data; data that stays unanswered ends the connection."""
    transport.set_keepalive(KEEPALIVE)
    if isinstance(transport.sock, socket.socket) and hasattr(socket, "TCP_USER_TIMEOUT"):
        with suppress(OSError):  # not a TCP socket
            transport.sock.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER * 1000
            )


def _reason(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return f"the name cannot be resolved ({error.strerror})"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__
