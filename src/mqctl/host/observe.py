"""Turns the answer of one observation script into :class:`~mqctl.host.facts.Facts`. No I/O.

Few and large questions: one script asks Docker, the project directories and git together, since on
SSH a channel costs as much as all of them.
"""

from __future__ import annotations

import base64
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mqctl.errors import MqctlError, Unreachable
from mqctl.host import docker, git, record
from mqctl.host.facts import Container, Facts, ProjectFacts
from mqctl.host.scripts import script
from mqctl.model import Marquee

_LONG = 16  # digits of no moment that a clock tells

OBSERVE = script("observe", "docker", "git")
OBSERVE_PROJECT = script("observe_project", "docker")
OBSERVE_CONTAINERS = script("observe_containers", "docker")


def arguments(marquee: Marquee) -> list[str]:
    """The arguments of ``observe.sh``: directory and branch of each declared checkout."""
    return [
        word
        for playground in marquee.playgrounds
        for checkout in playground.checkouts
        for word in (git.directory(playground.project, checkout), checkout.branch)
    ]


def parse(answer: bytes) -> Facts:
    """Parse the answer of ``observe.sh``.

    Raises:
        Unreachable: Docker did not answer (rule "never act on a blind observation").
        MqctlError: the answer is cut or garbled.
    """
    sections = _sections(answer)
    _require_docker(sections, ("containers", "images", "networks"))
    images = docker.parse_images(sections["images"])
    networks = docker.parse_networks(sections["networks"])
    files = _untar(sections.get("files"))
    tombstones, unreadable = _tombstones(files)
    return Facts(
        host_now=_host_now(sections),
        engine_id=docker.engine_id(networks),
        containers=docker.parse_containers(sections["containers"], images),
        images=images,
        networks=networks,
        projects=_projects(sections, files),
        tombstones=tombstones,
        unreadable=unreadable,
        pulled=_pulled(sections.get("pulled", "")),
        disk_free=_disk_free(sections.get("disk", "")),
    )


def parse_project(answer: bytes) -> tuple[float, tuple[Container, ...]]:
    """Parse ``observe_project.sh`` or ``observe_containers.sh``: host's time and containers."""
    sections = _sections(answer)
    _require_docker(sections, ("containers", "images"))
    images = docker.parse_images(sections["images"])
    containers = docker.parse_containers(sections["containers"], images)
    inspections = docker.parse_inspections(sections.get("inspections", ""))
    return _host_now(sections), docker.inspected(containers, inspections)


def _sections(answer: bytes) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in answer.decode("utf-8", "replace").split("\n"):
        if line.startswith("@failed "):
            sections.setdefault("failed", []).append(line.removeprefix("@failed "))
        elif line.startswith("@"):
            lines = sections.setdefault(line[1:].strip(), [])
        else:
            lines.append(line)
    if "end" not in sections:
        raise MqctlError(
            "the host's answer was cut",
            why="the last line of the observation did not arrive",
            fix="run again; if it stays, see what the host's login shell prints or limits",
        )
    return {name: "\n".join(lines) for name, lines in sections.items()}


def _require_docker(sections: Mapping[str, str], asked: Iterable[str]) -> None:
    failed = sections.get("failed", "").split()
    for name in asked:
        if name in failed or name not in sections:
            noise = [line for line in sections.get(name, "").splitlines() if line.strip()]
            raise Unreachable(
                "Docker on the host did not answer",
                why=noise[-1] if noise else f"its list of {name} could not be read",
                fix="log in there and see whether `docker ps` works for this user",
            )


def _host_now(sections: Mapping[str, str]) -> float:
    moment = sections.get("time", "").strip()
    if not (moment.isascii() and moment.isdecimal() and len(moment) < _LONG):
        raise MqctlError("the host's clock could not be read")
    return float(moment)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise _garbled(str(error)) from None


def _garbled(why: str) -> MqctlError:
    """What is garbled must not pass for "nothing there": that would be acted on."""
    return MqctlError(
        "the host's answer about its project directories is garbled",
        why=why,
        fix="see whether find, tar and base64 work there",
    )


def _untar(text: str | None) -> dict[str, bytes]:
    """The files of a base64 tar by path; None where there is no project directory yet."""
    found: dict[str, bytes] = {}
    if text is None:
        return found
    try:
        with tarfile.open(fileobj=io.BytesIO(_decoded(text)), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    found[member.name] = file.read()
    except (tarfile.TarError, EOFError, KeyError, ValueError, OverflowError) as error:
        raise _garbled(str(error)) from None
    return found


def _projects(sections: Mapping[str, str], files: Mapping[str, bytes]) -> dict[str, ProjectFacts]:
    entries: dict[str, set[str]] = {}
    listing = _decoded(sections.get("entries", "")).decode("utf-8", "surrogateescape")
    for path in listing.split("\0"):
        _, _, rest = path.partition("/")
        project, _, entry = rest.partition("/")
        if entry:
            entries.setdefault(project, set()).add(entry)
    for path in files:
        if path.startswith("projects/") and path.split("/")[1] not in entries:
            raise _garbled(f"{path} is in a directory that is not listed")
    hashes = _hashes(sections.get("hashes", ""))
    states = git.parse_states(sections.get("checkouts", ""))
    found = {}
    for name in sorted(entries):
        prefix = f"projects/{name}/"
        found[name] = _project(
            ProjectFacts(
                name=name,
                entries=frozenset(entries[name]),
                hashes=hashes.get(name, {}),
                checkouts={
                    path.removeprefix(prefix): state
                    for path, state in states.items()
                    if path.startswith(prefix)
                },
            ),
            {
                path.removeprefix(prefix): content
                for path, content in files.items()
                if path.startswith(prefix)
            },
        )
    return found


def _project(bare: ProjectFacts, files: Mapping[str, bytes]) -> ProjectFacts:
    marker = applied = None
    broken = ""
    try:
        if record.MARKER in files:
            marker = record.load(record.Marker, files[record.MARKER])
        if record.RECORD in files:
            applied = record.load(record.Record, files[record.RECORD])
    except record.Unreadable as error:
        broken = str(error)
    hold = files.get(record.HOLD)
    return replace(
        bare,
        marker=marker,
        record=applied,
        broken=broken,
        hold=None if hold is None else hold.decode("utf-8", "replace").strip(),
    )


def _hashes(text: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in text.split("\n"):
        first, _, rest = line.partition(" ")
        if first == "project":
            current = found.setdefault(rest, {})
        elif rest:
            current[rest[1:]] = first
    return found


def _tombstones(files: Mapping[str, bytes]) -> tuple[dict[str, record.Tombstone], frozenset[str]]:
    """The tombstones by project, and the projects whose tombstone cannot be read."""
    found = {}
    unreadable = set()
    for path, content in files.items():
        folder, _, project = path.partition("/")
        if folder == "tombstones":
            try:
                found[project] = record.load(record.Tombstone, content)
            except record.Unreadable:
                unreadable.add(project)
    return found, frozenset(unreadable)


def _pulled(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in text.splitlines():
        match line.split(" "):
            case [identity, moment, *_] if moment.isascii() and moment.isdecimal():
                found[identity] = float(moment)
    return found


def _disk_free(text: str) -> float | None:
    shares = []
    for line in text.splitlines()[1:]:
        words = line.split()
        try:
            shares.append(int(words[3]) / int(words[1]))
        except (IndexError, ValueError, ArithmeticError):
            continue
    return min(shares, default=None)
