"""What was read from a Marquee, as frozen values. Nothing here decides anything.

Ages and times on the host are seconds since the epoch *by the host's clock* (``Facts.host_now``),
so that a client whose clock is off judges them right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from mqctl.host.record import Marker, Record, Tombstone


@dataclass(frozen=True, slots=True)
class Port:
    """A published port. ``ip`` is ``""`` for every address; ``protocol`` is ``tcp``, ``udp``..."""

    number: int
    protocol: str = "tcp"
    ip: str = ""

    def collides(self, other: Port) -> bool:
        """Whether one machine cannot publish both."""
        if (self.number, self.protocol) != (other.number, other.protocol):
            return False
        return not self.ip or not other.ip or self.ip == other.ip

    def __str__(self) -> str:
        return f"{self.ip + ':' if self.ip else ''}{self.number}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What only ``docker inspect`` knows. Times are RFC 3339 texts of the daemon."""

    started_at: str
    finished_at: str
    restart_count: int
    exit_code: int
    health: str = ""  # starting, healthy, unhealthy, or "" without a health check
    error: str = ""


@dataclass(frozen=True, slots=True)
class Container:
    """One line of ``docker ps -a``.

    ``image`` is what ps shows (a name, or a bare id once the tag has moved on); ``image_id`` is the
    id that was found for it, or "". ``up_at_most`` is the most seconds it can have been up, by the
    coarse text of ``status``; None when it is not running.
    """

    id: str
    name: str
    image: str
    state: str
    status: str
    created: str = ""
    ports: tuple[Port, ...] = ()
    project: str = ""
    service: str = ""
    one_off: bool = False
    fleet: str = ""
    marquee: str = ""
    playground: str = ""
    agent_chat: str = ""
    image_id: str = ""
    exit_code: int | None = None
    health: str = ""
    up_at_most: float | None = None
    inspection: Inspection | None = None

    @property
    def running(self) -> bool:
        """Whether its process lives; paused and restarting do not count."""
        return self.state == "running"

    @property
    def up(self) -> bool:
        """Whether ``stop`` would have something to do."""
        return self.state in {"running", "restarting", "paused"}


@dataclass(frozen=True, slots=True)
class Network:
    """One line of ``docker network ls``."""

    id: str
    name: str
    project: str = ""
    fleet: str = ""
    marquee: str = ""


class CheckoutState(StrEnum):
    """What ``git-state`` reports of a checkout."""

    MISSING = "missing"
    CLEAN = "clean"
    DIRTY = "dirty"
    AHEAD = "ahead"
    BEHIND = "behind"
    DIVERGED = "diverged"
    DETACHED = "detached"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class GitState:
    """One checkout as git describes it. ``error`` set means: unreadable, and that is dirty.

    ``changes`` counts tracked changes and untracked files, ``local_commits`` those that are in no
    remote-tracking branch and were not fetched by mqctl, ``operation`` is a merge, rebase... in
    progress. ``tip`` is the declared branch as it was last fetched, ``ahead`` and ``behind`` count
    the commits that only HEAD and only ``tip`` have.
    """

    head: str = ""
    branch: str = ""  # "" when detached
    origin: str = ""
    changes: int = 0
    local_commits: int = 0
    operation: str = ""
    hidden: int = 0  # files marked assume-unchanged or skip-worktree: their changes are invisible
    tip: str = ""
    ahead: int = 0
    behind: int = 0
    error: str = ""

    @property
    def dirty(self) -> bool:
        """Whether anything here would be lost by moving or removing it."""
        return bool(
            self.error or self.changes or self.local_commits or self.operation or self.hidden
        )

    def describe(self) -> str:
        """Why it is dirty, for people."""
        parts = [self.error, f"{self.operation} in progress" if self.operation else ""]
        counted = (
            (self.changes, "changed or untracked file", ""),
            (self.local_commits, "commit", " that no remote has"),
            (self.hidden, "file", " hidden from git status"),
        )
        parts += [f"{n} {what}{'' if n == 1 else 's'}{more}" for n, what, more in counted if n]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """One directory below ``projects/``. ``record`` None: none, or (``broken``) unreadable."""

    name: str
    marker: Marker | None = None
    record: Record | None = None
    broken: str = ""
    hold: str | None = None
    entries: frozenset[str] = frozenset()
    hashes: Mapping[str, str] = field(
        default_factory=dict
    )  # watched file -> sha256, absent if gone
    checkouts: Mapping[str, GitState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """One look at a Marquee, kept current by what the runner observes after each action."""

    host_now: float
    engine_id: str = ""
    containers: tuple[Container, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)  # reference -> image id
    networks: tuple[Network, ...] = ()
    projects: Mapping[str, ProjectFacts] = field(default_factory=dict)
    tombstones: Mapping[str, Tombstone] = field(default_factory=dict)
    unreadable: frozenset[str] = frozenset()  # projects with a tombstone that cannot be read
    pulled: Mapping[str, float] = field(
        default_factory=dict
    )  # image id that mqctl pulled -> last use
    disk_free: float | None = None  # share of the fullest relevant filesystem that is free

    def of_project(self, project: str) -> tuple[Container, ...]:
        """The containers that Compose counts to ``project``, one-offs included."""
        return tuple(one for one in self.containers if one.project == project)

    def project(self, name: str) -> ProjectFacts:
        """The directory of a project, empty if there is none."""
        return self.projects.get(name) or ProjectFacts(name)

    def with_project_containers(self, project: str, seen: tuple[Container, ...]) -> Facts:
        """These facts, with the containers of one project observed again."""
        others = tuple(one for one in self.containers if one.project != project)
        return replace(self, containers=others + seen)

    def with_project(self, seen: ProjectFacts) -> Facts:
        """These facts, with one project directory observed again."""
        return replace(self, projects={**self.projects, seen.name: seen})

    def with_images(self, seen: Mapping[str, str]) -> Facts:
        """These facts, with some references looked up again."""
        return replace(self, images={**self.images, **seen})
