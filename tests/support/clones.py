"""More Playgrounds like one that a cycle made, without the minute or two that applies would take.

Whether they are good copies shows in the next cycle: it finds nothing to do only if they are.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import time
from typing import Any

from tests.bed import Host
from tests.support.operators import Operator

_LABELS = '{{range $k, $v := .Config.Labels}}{{printf "%s=%s\\n" $k $v}}{{end}}'


def clone(operator: Operator, host: Host, model: str, names: list[str]) -> None:
    """Copy the running Playground ``model`` (one container, one image) under other names."""
    container = f"{operator.project(model)}-web-1"
    labels = host.docker("inspect", "-f", _LABELS, container).split("\n")
    image = host.docker("inspect", "-f", "{{.Config.Image}}", container).strip()
    script = []
    for name in names:
        renamed = [one.replace(model, name) for one in labels if one.strip()]
        words = [word for one in renamed for word in ("--label", one)]
        own = container.replace(model, name)
        script.append(shlex.join(["docker", "create", "--name", own, *words, image]))
    script.append("docker start $(docker ps -aq --filter status=created)")
    host.sh("set -e\n" + "\n".join(script))
    for name in names:
        _copy_directory(operator, model, name)


def _copy_directory(operator: Operator, model: str, name: str) -> None:
    target = operator.directory(name)
    shutil.copytree(operator.directory(model), target)
    for path in target.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace(model, name))
    path = target / ".mqctl" / "record.json"
    record: dict[str, Any] = json.loads(path.read_text())
    labels = {"mqctl.fleet": operator.fleet, "mqctl.marquee": "east-1", "mqctl.playground": name}
    for part in (record["staged"], record["applied"]):
        part["inputs"]["labels"] = _sha(json.dumps(labels, sort_keys=True))
        part["digest"] = _sha(json.dumps(dict(sorted(part["inputs"].items()))))
    record["applied"]["at"] = time.time()  # after the start: up for as long as it was applied
    record["staged"]["base"] = record["staged"]["digest"]
    path.write_text(json.dumps(record))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
