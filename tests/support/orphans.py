"""Compose projects as a cycle would have left them, made by hand: quicker, and with flaws."""

from __future__ import annotations

import json

from tests.bed import Host
from tests.support.operators import Operator


def leave(
    operator: Operator,
    host: Host,
    project: str,
    *,
    fleet: str | None = None,
    marker: bool = True,
) -> str:
    """Leave a project with one container, labels and a directory; give its container's id."""
    fleet = fleet or operator.fleet
    labels = {
        "com.docker.compose.project": project,
        "com.docker.compose.service": "web",
        "com.docker.compose.oneoff": "False",
        "mqctl.fleet": fleet,
        "mqctl.marquee": host.name,
        "mqctl.playground": project.rpartition("_")[2],
    }
    place = host.home / ".mqctl" / fleet / host.name / "projects" / project / ".mqctl"
    place.mkdir(parents=True)
    if marker:
        owner = {"fleet": fleet, "marquee": host.name, "project": project, "format": 1}
        (place / "owner.json").write_text(json.dumps(owner))
    words = [word for key, value in labels.items() for word in ("--label", f"{key}={value}")]
    image = "nginx:alpine"
    return host.docker("run", "-d", "--name", f"{project}-web-1", *words, image).strip()
