"""What a host shows to someone who does not believe mqctl's own words."""

from __future__ import annotations

from pathlib import Path

from tests.bed import Host


def container_ids(host: Host) -> dict[str, str]:
    """Each container's id by its name, running or not."""
    lines = host.docker("ps", "-a", "--no-trunc", "--format", "{{.Names}} {{.ID}}").splitlines()
    return dict(line.split(" ") for line in lines)


def running(host: Host) -> set[str]:
    """The names of the containers that run."""
    return set(host.docker("ps", "--format", "{{.Names}}").splitlines())


def volumes(host: Host) -> set[str]:
    """The names of the volumes."""
    return set(host.docker("volume", "ls", "-q").splitlines())


def mutating_calls(host: Host) -> list[str]:
    """Requests to Docker that change something, since the last ``reset_counts()``."""
    return [call for call in host.api_calls() if not call.startswith(("GET ", "HEAD "))]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder (links as what they point at), byte for byte."""
    return {
        str(path.relative_to(folder)): str(path.readlink()).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def guard_runs(host: Host) -> bool:
    """Whether any of mqctl's commands is on its way through the guard or runs."""
    return "same_place()" in host.sh("ps -eo args")
