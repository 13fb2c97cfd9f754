"""What is declared: a fleet, its Marquees and all that shall run on them.

Durations are seconds (float), times are aware UTC datetimes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from mqctl.errors import ConfigError
from mqctl.secret import SecretRef


@dataclass(frozen=True, slots=True)
class Policy:
    """The bounds of a cycle, per Marquee. Seconds, except ``rollout_budget`` (rollouts a cycle)."""

    rollout_budget: int = 3
    apply_grace: float = 180.0
    rollout_cooldown: float = 600.0
    unhealthy_after: float = 300.0
    health_wait: float = 90.0
    ttl: float | None = None
    chat_grace: float = 120.0
    orphan_grace: float = 600.0
    image_retention: float = 7 * 86400.0
    connect_timeout: float = 8.0
    command_timeout: float = 300.0
    apply_timeout: float = 600.0
    shutdown_grace: float = 10.0


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """Where the locks live. ``url`` is ``redis://``, ``rediss://``, ``unix://`` or ``embedded``."""

    url: str
    password: SecretRef | None = None
    timeout: float = 2.0


@dataclass(frozen=True, slots=True)
class Registry:
    """An image registry and the account that may pull from it."""

    name: str
    host: str
    username: str
    password: SecretRef


@dataclass(frozen=True, slots=True)
class Prop:
    """One Git repository. At most one of ``ssh_key`` and ``token`` is set."""

    name: str
    repository_url: str
    default_branch: str = "main"
    active: bool = True
    ssh_key: SecretRef | None = None
    username: str | None = None
    token: SecretRef | None = None
    known_hosts_file: Path | None = None

    def known_hosts(self) -> str:
        """The text of the Git server's known hosts, "" for the host's own. Raises ConfigError."""
        if self.known_hosts_file is None:
            return ""
        try:
            return self.known_hosts_file.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the known hosts file of the prop {self.name} cannot be read",
                why=str(error),
                fix=f"make {self.known_hosts_file} readable, or correct known_hosts_file",
            ) from None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree of a Prop beside the Compose file of one Playground."""

    name: str
    prop: Prop
    branch: str
    follow: bool = True


class PullPolicy(StrEnum):
    """When the images of a Playspec are pulled."""

    MISSING = "missing"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ComposeFile:
    """Where a Compose file is: beside the declared file, or inside a checkout.

    ``checkout`` is None: ``path`` is absolute, on this machine. Otherwise ``path`` is relative to
    that checkout's root, on the Marquee.
    """

    path: str
    checkout: str | None = None


EnvValue = str | SecretRef


@dataclass(frozen=True, slots=True)
class Playspec:
    """A blueprint of Playgrounds. ``files`` are relative to the folder of the Compose file."""

    name: str
    compose: ComposeFile
    files: tuple[str, ...] = ()
    checkouts: Mapping[str, Prop] = field(default_factory=dict)
    registries: tuple[Registry, ...] = ()
    pull_policy: PullPolicy = PullPolicy.MISSING
    persist_volumes: bool = False


class Status(StrEnum):
    """Whether something declared shall run."""

    ACTIVE = "active"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Playground:
    """One Compose project on one Marquee. ``env`` is the Playspec's and its own, merged."""

    name: str
    project: str  # the Compose project: FLEET_MARQUEE_NAME
    playspec: Playspec
    checkouts: tuple[Checkout, ...] = ()
    env: Mapping[str, EnvValue] = field(default_factory=dict)
    ttl: float | None = None
    expires_at: datetime | None = None
    status: Status = Status.ACTIVE
    hold: bool = False


@dataclass(frozen=True, slots=True)
class AgentChat:
    """One long-lived agent, as one image or (``compose``) as a Compose project.

    ``data_path`` is where the data volume is mounted in the container of ``image``.
    ``restart`` is Docker's restart policy, ``memory`` and ``cpus`` are as Docker takes them.
    """

    name: str
    project: str  # FLEET_MARQUEE_chat_NAME
    image: str | None = None
    compose: ComposeFile | None = None
    registries: tuple[Registry, ...] = ()
    data_path: str = "/data"
    health_url: str | None = None
    command: tuple[str, ...] | None = None
    env: Mapping[str, EnvValue] = field(default_factory=dict)
    ports: tuple[str, ...] = ()
    memory: str | None = None
    cpus: float | None = None
    restart: str = "on-failure:10"
    status: Status = Status.ACTIVE


@dataclass(frozen=True, slots=True)
class Marquee:
    """One Docker host. ``host`` is None when the file gives none; ``local`` means no SSH.

    ``port`` and ``user`` None mean: what ``~/.ssh/config`` says. ``root`` may start with ``~/``,
    which is resolved on the host.
    """

    name: str
    fleet: str
    host: str | None = None
    user: str | None = None
    port: int | None = None
    identity_file: Path | None = None
    known_hosts_file: Path | None = None
    active: bool = True
    root: str = "~/.mqctl"
    sudo: bool = False
    policy: Policy = field(default_factory=Policy)
    playgrounds: tuple[Playground, ...] = ()
    agent_chats: tuple[AgentChat, ...] = ()

    @property
    def local(self) -> bool:
        """Whether it is this machine."""
        return self.host == "local"

    @property
    def launchable(self) -> bool:
        """Whether a cycle may run on it."""
        return self.active and (self.local or (self.host is not None and self.user is not None))


@dataclass(frozen=True, slots=True)
class Trigger:
    """An outside action, dispatched at most once in ``window`` seconds.

    ``webhook`` is a URL or a reference to one; or ``repository``, ``workflow``, ``ref`` and
    ``token`` name a GitHub workflow. ``on`` names the events that dispatch it.
    """

    name: str
    window: float
    webhook: EnvValue | None = None
    repository: str | None = None
    workflow: str | None = None
    ref: str | None = None
    token: SecretRef | None = None
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """All that one declared file describes. ``source`` is the file."""

    name: str
    source: Path
    redis: RedisSettings
    lock_ttl: float = 900.0
    marquees: tuple[Marquee, ...] = ()
    triggers: tuple[Trigger, ...] = ()

    def marquee(self, name: str) -> Marquee | None:
        """The Marquee of that name, if declared."""
        return next((one for one in self.marquees if one.name == name), None)
