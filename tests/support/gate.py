"""A Compose project whose ``up`` takes exactly as long as a test wants."""

from __future__ import annotations

from tests.bed import Host, wait_until
from tests.support.looks import running
from tests.support.operators import Operator
from tests.support.ran import PATIENCE, Running

COMPOSE = {
    "services": {
        "gate": {
            "image": "nginx:alpine",
            "healthcheck": {
                "test": ["CMD", "test", "-e", "/open"],
                "interval": "1s",
                "retries": 1000,
            },
        },
        "app": {
            "image": "nginx:alpine",
            "depends_on": {"gate": {"condition": "service_healthy"}},
        },
    }
}


class Gate:
    """The Playground ``slow``: Compose waits until ``gate`` is healthy, which a test allows."""

    def __init__(self, operator: Operator, host: Host) -> None:
        """Declare it, with its image on the host already."""
        operator.playspec("slow", COMPOSE)
        operator.playground("slow", "slow")
        host.docker("pull", "-q", "nginx:alpine")
        self._host = host
        self._name = operator.project("slow")

    @property
    def app(self) -> str:
        """The container that starts behind the gate."""
        return f"{self._name}-app-1"

    def wait_reached(self, run: Running) -> None:
        """Wait until Compose waits, in a run of mqctl."""
        run.wait_until(lambda: f"{self._name}-gate-1" in running(self._host), "the gate")

    def open(self) -> None:
        """Let Compose go on."""
        self._host.docker("exec", f"{self._name}-gate-1", "touch", "/open")

    def wait_passed(self) -> None:
        """Wait until what is behind the gate runs."""
        wait_until(lambda: self.app in running(self._host), "the app behind the gate", PATIENCE)
