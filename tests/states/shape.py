"""What a Playground looks like on its host, without what differs from one to the next anyway."""

from __future__ import annotations

import json
from typing import Any

from tests.bed import Host
from tests.support.looks import tree
from tests.support.operators import Operator

# Times, numbers and salts: of the cycle that made it, not of what it made.
_PASSING = {
    "at",
    "fence",
    "salt",
    "digest",
    "base",
    "env",
    "labels",
    "first_applied_at",
    "last_attempt_at",
    "last_repair_at",
}


def shape(operator: Operator, host: Host, name: str) -> dict[str, object]:
    """Containers, files, commits and record of a Playground, as if its name were NAME."""
    project = operator.project(name)
    found: dict[str, object] = {}

    def nameless(text: str) -> str:
        return text.replace(project, "NAME").replace(f'"{name}"', '"NAME"')

    ids = host.docker("ps", "-aq", "--filter", f"label=com.docker.compose.project={project}")
    for one in json.loads(nameless(host.docker("inspect", *ids.split()))):
        found[one["Name"]] = container(one)
    directory = operator.directory(name)
    for path, content in tree(directory).items():
        if path == ".mqctl/record.json":
            found[path] = lasting(json.loads(content))
        elif "/.git/" not in path:
            found[path] = nameless(content.decode())
    for git in directory.glob("*/.git"):
        answer = host.sh(f"cd {git.parent} && git status --porcelain --branch && git log --oneline")
        found[str(git.relative_to(directory))] = answer
    return found


def container(inspected: Any) -> dict[str, object]:
    """What is the same for two containers of the same input."""
    labels = inspected["Config"]["Labels"]
    return {
        "image": inspected["Image"],
        "status": inspected["State"]["Status"],
        "restarts": inspected["RestartCount"],
        "ours": {key: labels[key] for key in sorted(labels) if key.startswith("mqctl.")},
        "binds": sorted(inspected["HostConfig"]["Binds"]),
        "networks": sorted(inspected["NetworkSettings"]["Networks"]),
    }


def lasting(record: Any) -> Any:
    """A record without what passes."""
    if isinstance(record, dict):
        return {key: lasting(value) for key, value in record.items() if key not in _PASSING}
    return record
