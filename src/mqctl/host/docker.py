"""Docker as text: the questions to its command line and the parsing of the answers. No I/O.

Rows are JSON values separated by blanks, since names and labels may hold anything. ``docker ps
--format json`` does not exist before CLI 23, and ``{{json .}}`` makes the daemon compute sizes, so
each field is asked for by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mqctl.host.facts import Container, Inspection, Network, Port

_LABELS = (
    "com.docker.compose.project",
    "com.docker.compose.service",
    "com.docker.compose.oneoff",
    "mqctl.fleet",
    "mqctl.marquee",
    "mqctl.playground",
    "mqctl.agent-chat",
)


def _row(*fields: str) -> str:
    return " ".join(f"{{{{json {field}}}}}" for field in fields)


PS_FORMAT = _row(
    ".ID", ".Names", ".Image", ".State", ".Status", ".CreatedAt", ".Ports",
    *(f'(.Label "{label}")' for label in _LABELS),
)  # fmt: skip
IMAGES_FORMAT = _row(".Repository", ".Tag", ".Digest", ".ID")
NETWORKS_FORMAT = _row(
    ".ID", ".Name", *(f'(.Label "{label}")' for label in (_LABELS[0], *_LABELS[3:5]))
)
INSPECT_FORMAT = _row(".Id", ".State", ".RestartCount")
# A daemon that hangs must not hang the cycle; a busy one may take its time.
QUERY = "timeout -k 2 30 docker"
PS = f"{QUERY} ps -a --no-trunc --format '{PS_FORMAT}'"
# Docker looks for "{{.Digest}}" to know whether digests are wanted; "{{json .Digest}}" is none.
IMAGES = f"{QUERY} images --no-trunc --digests --format '{IMAGES_FORMAT}'"
NETWORKS = f"{QUERY} network ls --no-trunc --format '{NETWORKS_FORMAT}'"
INSPECT = f"{QUERY} inspect --type container --format '{INSPECT_FORMAT}'"


def rows(text: str) -> list[list[object]]:
    """Split each line into its JSON values; lines that are none (a warning, noise) are left out."""
    decoder = json.JSONDecoder()
    parsed: list[list[object]] = []
    for line in text.split("\n"):
        values: list[object] = []
        at = 0
        try:
            while at < len(line):
                value, at = decoder.raw_decode(line, at)
                values.append(value)
                at += 1  # the blank between two values
        except (ValueError, RecursionError):  # the latter: thousands of brackets
            continue
        if values:
            parsed.append(values)
    return parsed


def _texts(text: str, width: int) -> Iterable[list[str]]:
    for row in rows(text):
        if len(row) == width:
            yield [value if isinstance(value, str) else str(value) for value in row]


def parse_containers(text: str, images: Mapping[str, str]) -> tuple[Container, ...]:
    """Parse ``docker ps``; ``images`` (reference -> id), seen together with it, tell image ids."""
    found = []
    for row in _texts(text, 7 + len(_LABELS)):
        identity, name, image, state, status, created, ports = row[:7]
        project, service, one_off, fleet, marquee, playground, chat = row[7:]
        found.append(
            Container(
                id=identity,
                name=_own_name(name),
                image=image,
                state=state,
                status=status,
                created=created,
                ports=parse_ports(ports),
                project=project,
                service=service,
                one_off=one_off == "True",
                fleet=fleet,
                marquee=marquee,
                playground=playground,
                agent_chat=chat,
                image_id=image_id(image, images),
                exit_code=_exit_code(status),
                health=_health(status),
                up_at_most=_up_at_most(status),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.project, one.service, one.name)))


def _own_name(names: str) -> str:
    """Untruncated, ps also shows what links call a container: ``other/alias,its-own-name``."""
    return next((name for name in names.split(",") if "/" not in name), names)


def image_id(image: str, images: Mapping[str, str]) -> str:
    """The id behind what ps shows, "" if unknown."""
    if image.startswith("sha256:"):
        return image
    return images.get(canonical(image), "")


_EXITED = re.compile(r"^(?:Exited|Restarting) \((\d+)\)")
_HEALTH = re.compile(r"\((healthy|unhealthy|health: starting)\)")
_UP = re.compile(r"^Up (?:(Less than) a second|About an? (minute|hour)|(\d{1,6}) (\w+?)s?\b)")
_UNITS = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800,
    "month": 2678400, "year": 31622400,
}  # fmt: skip


def _exit_code(status: str) -> int | None:
    match = _EXITED.match(status)
    return int(match[1]) if match else None


def _health(status: str) -> str:
    match = _HEALTH.search(status)
    return match[1].removeprefix("health: ") if match else ""


def _up_at_most(status: str) -> float | None:
    """Docker rounds "Up 3 minutes" down (go-units HumanDuration): it may be up to the next unit."""
    match = _UP.match(status)
    if not match:
        return None
    if match[1]:
        return 1.0
    if match[2]:  # "About a minute" is said up to two of them
        return 2.0 * _UNITS[match[2]]
    return (int(match[3]) + 1.0) * _UNITS.get(match[4], _UNITS["year"])


_PORT = re.compile(
    r"^(?:\[?(?P<ip>[^\]]*?)\]?:)?(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?->[\d-]+/(?P<p>\w+)$"
)


def parse_ports(text: str) -> tuple[Port, ...]:
    """Parse ps's ``0.0.0.0:3000->3000/tcp, :::80-81->80-81/tcp``; ports not published are left."""
    found: dict[Port, None] = {}
    for part in text.split(", "):
        match = _PORT.match(part)
        if not match:
            continue
        ip = match["ip"] or ""
        wildcard = ip in {"0.0.0.0", "::", ""}  # noqa: S104 - parsed, not bound
        first = int(match["first"])
        for number in range(first, int(match["last"] or first) + 1):
            found[Port(number, match["p"], "" if wildcard else ip)] = None
    return tuple(found)


def canonical(reference: str) -> str:
    """An image reference as ``docker images`` would list it: familiar name and a tag or digest."""
    name = reference.removeprefix("docker.io/").removeprefix("index.docker.io/")
    name = name.removeprefix("library/")
    if "@" in name:
        repository, digest = name.split("@", 1)
        return f"{_without_tag(repository)}@{digest}"
    return name if _without_tag(name) != name else f"{name}:latest"


def _without_tag(name: str) -> str:
    head, _, tail = name.rpartition(":")
    return head if head and "/" not in tail else name


_NONE = {"", "<none>"}


def parse_images(text: str) -> dict[str, str]:
    """Parse ``docker images``: each tag and each digest reference -> image id.

    An image that has lost all its names stands for itself: its id -> its id.
    """
    found: dict[str, str] = {}
    nameless: list[str] = []
    for repository, tag, digest, identity in _texts(text, 4):
        named = repository not in _NONE
        if named and tag not in _NONE:
            found[canonical(f"{repository}:{tag}")] = identity
        if named and digest not in _NONE:
            found[canonical(f"{repository}@{digest}")] = identity
        nameless.append(identity)
    known = set(found.values())
    return {**found, **{identity: identity for identity in nameless if identity not in known}}


def parse_networks(text: str) -> tuple[Network, ...]:
    """Parse ``docker network ls``."""
    return tuple(Network(*row) for row in _texts(text, 5))


def engine_id(networks: Iterable[Network]) -> str:
    """Which engine this is: the id of its ``none`` network (``docker info`` runs every plugin)."""
    return next((one.id for one in networks if one.name == "none"), "")


def parse_inspections(text: str) -> dict[str, Inspection]:
    """Parse the answer to :data:`INSPECT`: container id -> inspection."""
    found: dict[str, Inspection] = {}
    for row in rows(text):
        match row:
            case [str(identity), dict(state), int(restarts)] if isinstance(
                code := state.get("ExitCode"), int
            ):
                health = state.get("Health")
                found[identity] = Inspection(
                    started_at=str(state.get("StartedAt", "")),
                    finished_at=str(state.get("FinishedAt", "")),
                    restart_count=restarts,
                    exit_code=code,
                    health=str(health.get("Status", "")) if isinstance(health, dict) else "",
                    error=str(state.get("Error") or ""),
                )
            case _:
                continue
    return found


def inspected(
    containers: Iterable[Container], inspections: Mapping[str, Inspection]
) -> tuple[Container, ...]:
    """The containers with what inspection told about them."""
    return tuple(replace(one, inspection=inspections.get(one.id)) for one in containers)
