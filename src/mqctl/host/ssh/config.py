"""How a host is reached: ``~/.ssh/config``, and what the declared file overrides.

paramiko parses these files; what it lacks and a working configuration of today has is added here:
``Include``, ``ProxyJump none``, and the order of several jumps.
"""

from __future__ import annotations

import getpass
import glob
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from paramiko.config import SSHConfig
from paramiko.ssh_exception import ConfigParseError, CouldNotCanonicalize

from mqctl.errors import Refused
from mqctl.model import Marquee

_SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
_DEFAULT_IDENTITIES = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_DEFAULT_KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_SYSTEM_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_MAX_DEPTH = 8

_INCLUDE = re.compile(r"\s*include(?:\s*=\s*|\s+)(?P<patterns>.+)", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(?:host|match)(?:\s*=\s*|\s+)", re.IGNORECASE)
_HOP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:\[]+)(?::(?P<port>\d+))?/?"
)


@dataclass(frozen=True, slots=True)
class Hop:
    """One SSH server on the way, the last one being the Marquee itself.

    ``alias`` is the name that was asked for, ``host`` what it stands for. ``agent_too`` tells
    whether keys of the agent that are not among the ``identities`` are tried. ``proxy_command`` is
    a shell command of this machine that carries the connection.
    """

    alias: str
    host: str
    port: int
    user: str
    identities: tuple[Path, ...]
    agent_too: bool
    known_hosts_files: tuple[Path, ...]
    host_key_alias: str | None
    proxy_command: str | None = None

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" + (f" port {self.port}" if self.port != 22 else "")  # noqa: PLR2004


def route(marquee: Marquee, config: SSHConfig) -> tuple[Hop, ...]:
    """The servers to pass, first to last. What the Marquee declares wins for the last one.

    Raises:
        Refused: the configuration cannot be followed.
    """
    assert marquee.host is not None  # noqa: S101 - a launchable Marquee has one
    try:
        return tuple(_route(marquee.host, config, marquee=marquee, depth=0))
    except (ConfigParseError, CouldNotCanonicalize, ValueError) as error:
        raise Refused(
            f"the SSH configuration for {marquee.host} cannot be followed",
            why=str(error),
            fix=f"correct it; `ssh -G {marquee.host}` shows how OpenSSH reads it",
        ) from None


def _route(
    host: str,
    config: SSHConfig,
    *,
    marquee: Marquee,
    depth: int,
    user: str | None = None,
    port: int | None = None,
    behind: bool = False,
) -> Iterator[Hop]:
    """``behind``: the way to this one is given already, so its own ProxyJump does not count."""
    if depth > _MAX_DEPTH:
        raise ValueError("ProxyJump goes in circles")
    found = config.lookup(host)
    jumps = found.get("proxyjump") or "none"
    hops = [] if behind or jumps.lower() == "none" else [_hop(text) for text in jumps.split(",")]
    if hops and hops[0].host in {host, found["hostname"]}:
        hops = []  # `Host *` with a ProxyJump covers the jump host, too
    for index, hop in enumerate(hops):
        yield from _route(
            hop.host,
            config,
            marquee=marquee,
            depth=depth + 1,
            user=hop.user,
            port=hop.port,
            behind=index > 0,
        )
    last = depth == 0
    explicit_key = marquee.identity_file if last else None
    identities = [str(explicit_key)] if explicit_key else found.get("identityfile", [])
    only = explicit_key is not None or found.get("identitiesonly", "no").lower() == "yes"
    yield Hop(
        alias=host,
        host=found["hostname"],
        port=(marquee.port if last else port) or int(found.get("port", 22)),
        user=(marquee.user if last else user) or found.get("user") or getpass.getuser(),
        identities=_paths(*(identities or _DEFAULT_IDENTITIES)),
        agent_too=not only,
        known_hosts_files=_known_hosts_files(marquee, found, last=last),
        host_key_alias=found.get("hostkeyalias"),
        proxy_command=None if hops or behind else found.get("proxycommand"),
    )


class _Named(NamedTuple):
    user: str | None
    host: str
    port: int | None


def _hop(text: str) -> _Named:
    """One element of ProxyJump: ``[user@]host[:port]``, or the same as a URL."""
    match = _HOP.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"ProxyJump: {text!r} names no host")
    port = int(match["port"]) if match["port"] else None
    return _Named(match["user"], match["host"].strip("[]"), port)


def _known_hosts_files(marquee: Marquee, found: dict[str, str], *, last: bool) -> tuple[Path, ...]:
    """The declared file alone for the Marquee; it and the user's own for what is on the way."""
    declared = [str(marquee.known_hosts_file)] if marquee.known_hosts_file else []
    if declared and last:
        return _paths(*declared)
    usual = found.get("userknownhostsfile", _DEFAULT_KNOWN_HOSTS).split()
    system = found.get("globalknownhostsfile", _SYSTEM_KNOWN_HOSTS).split()
    return _paths(*declared, *usual, *system)


def _paths(*names: str) -> tuple[Path, ...]:
    return tuple(Path(name).expanduser() for name in names)


def load() -> SSHConfig:
    """The user's configuration, then the system's: the first value found counts.

    Raises:
        Refused: a file cannot be read or parsed.
    """
    try:
        own = list(_expanded(Path("~/.ssh/config").expanduser(), Path("~/.ssh").expanduser(), 0))
        system = list(_expanded(_SYSTEM_CONFIG, _SYSTEM_CONFIG.parent, 0))
        return SSHConfig.from_text("\n".join([*own, "Host *", *system]))
    except (OSError, ConfigParseError) as error:
        raise Refused(
            "the SSH configuration cannot be read", why=str(error), fix="correct ~/.ssh/config"
        ) from None


def _expanded(file: Path, folder: Path, depth: int) -> Iterator[str]:
    """The lines of a file with those of what it includes in their places.

    An included file starts and ends in the block that includes it; its own blocks count for
    themselves. (OpenSSH asks for both conditions; nesting them is rare.)
    """
    if depth > _MAX_DEPTH or not file.is_file():
        return
    block = "Host *"
    for line in file.read_text("utf-8", "replace").splitlines():
        match = _INCLUDE.fullmatch(line)
        if match is None:
            block = line if _BLOCK.match(line) else block
            yield line
            continue
        for pattern in shlex.split(match["patterns"]):
            where = folder / Path(pattern).expanduser()
            for name in sorted(glob.glob(str(where))):  # noqa: PTH207 - absolute, with wildcards
                yield from _expanded(Path(name), folder, depth + 1)
                yield block
