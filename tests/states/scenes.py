"""How to bring containers into states, and how to ask what state they are in."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.bed import Host, wait_until
from tests.support.operators import Operator
from tests.support.ran import PATIENCE, Ran

LONG = "10m"  # nothing that waits for it comes within a test
A_CYCLE = 150.0  # seconds; one that brings up a dozen Playgrounds on a slow machine


def compose(image: str, **keys: object) -> dict[str, object]:
    """A Compose file of one service, ``web``."""
    return {"services": {"web": {"image": image, **keys}}}


def cycle(operator: Operator, *arguments: str) -> Ran:
    """One cycle on ``east-1``, however long it takes."""
    return operator.start("reconcile", "east-1", *arguments).wait(A_CYCLE)


def only(operator: Operator, playground: str, *arguments: str) -> Ran:
    """One cycle that looks at one Playground."""
    return cycle(operator, "--playground", f"east-1/{playground}", *arguments)


def states(host: Host) -> dict[str, str]:
    """Each container's state by its name."""
    lines = host.docker("ps", "-a", "--format", "{{.Names}} {{.State}}").splitlines()
    return dict(line.split(" ") for line in lines)


def labels(host: Host, container: str) -> list[str]:
    """The labels that say what a container is for, as ``docker create`` takes them."""
    text = host.docker("inspect", "--format", "{{json .Config.Labels}}", container)
    found: Mapping[str, str] = json.loads(text)
    ours = ("com.docker.compose.", "mqctl.")
    return [
        word
        for name, value in found.items()
        if name.startswith(ours)
        for word in ("--label", f"{name}={value}")
    ]


def wait_for_health(host: Host, container: str, health: str) -> None:
    """Wait until Docker says that about a container."""
    form = "{{.State.Health.Status}}"
    wait_until(
        lambda: host.docker("inspect", "--format", form, container).strip() == health,
        f"{container} to be {health}",
        PATIENCE,
    )
