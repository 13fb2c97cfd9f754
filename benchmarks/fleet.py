"""One real host with many Playgrounds on it, and ways to ask it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bed import Bed

COMPOSE = "services: {web: {image: 'nginx:alpine', volumes: ['./site.conf:/site.conf:ro']}}\n"
PLUGIN = "/usr/local/lib/docker/cli-plugins/docker-compose"


@dataclass(frozen=True)
class Costs:
    """What one cycle used. Counted by sshd, dockerd and a wrapper around Compose; Redis by us."""

    outcome: str
    ssh_connections: int
    ssh_channels: int
    docker_api_requests: int
    compose_processes: int
    redis_commands: int


class Fleet:
    """A declared file with ``size`` Playgrounds on one Marquee, and the host behind it."""

    def __init__(self, bed: Bed, size: int) -> None:
        bed.seed_images()
        self.host = bed.host("east-1")
        self.environ = bed.env()
        self.home = bed.client_home()
        self.folder = bed.folder / "bench"
        self.folder.mkdir()
        (self.folder / "compose.yaml").write_text(COMPOSE)
        (self.folder / "site.conf").write_text("listen 8080\n")
        self.declare(size)
        self._compose_log = self.host.folder / "compose.log"
        self._wrap_compose()

    def declare(self, size: int) -> None:
        """Write the file anew."""
        self.names = [f"site-{number}" for number in range(1, size + 1)]
        declared: dict[str, Any] = {
            "version": 1,
            "fleet": "bench",
            "redis": {"url": self.environ["MQCTL_REDIS_URL"]},
            "playspecs": {"site": {"compose_file": "compose.yaml", "files": ["site.conf"]}},
            "marquees": {
                "east-1": {
                    "host": "east-1",
                    "user": self.host.user,
                    "playgrounds": {name: {"playspec": "site"} for name in self.names},
                }
            },
        }
        (self.folder / "marquees.yaml").write_text(json.dumps(declared))

    def _wrap_compose(self) -> None:
        """Have the host note each start of Compose."""
        self._compose_log.touch()
        wrapper = f'#!/bin/sh\necho x >>{self._compose_log}\nexec {PLUGIN}.real "$@"\n'
        self.host.sh(
            f"mv {PLUGIN} {PLUGIN}.real\ncat >{PLUGIN} <<'END'\n{wrapper}END\nchmod 755 {PLUGIN}\n"
        )

    def cycle(self) -> str:
        """Run one cycle and give the JSON document."""
        argv = [sys.executable, "-m", "mqctl", "reconcile", "east-1", "--output", "json"]
        return self.run(argv)

    def costs(self) -> Costs:
        """Run one cycle and count."""
        self.host.reset_counts()
        before = self._compose_log.stat().st_size
        cycle = json.loads(self.cycle())["cycles"][0]
        return Costs(
            outcome=cycle["outcome"],
            ssh_connections=self.host.connections(),
            ssh_channels=self.host.channels(),
            docker_api_requests=len(self.host.api_calls()),
            compose_processes=(self._compose_log.stat().st_size - before) // 2,
            redis_commands=cycle["counters"]["redis_commands"],
        )

    def ssh(self, command: str, *options: str) -> str:
        """Run a command there with OpenSSH, as a script without mqctl would."""
        folder = self.home / ".ssh"
        fixed = ["-F", str(folder / "config"), "-o", f"UserKnownHostsFile={folder}/known_hosts"]
        return self.run(["ssh", *fixed, "-o", "BatchMode=yes", *options, "east-1", command])

    def ask_one_by_one(self) -> None:
        """Ask for each Playground what a cycle asks, over one connection, a channel each."""
        control = f"ControlPath={self.folder}/control"
        self.ssh("true", "-o", control, "-o", "ControlMaster=yes", "-o", "ControlPersist=yes")
        for name in self.names:
            project = f"bench_east-1_{name}"
            place = f".mqctl/bench/east-1/projects/{project}"
            self.ssh(
                f"docker compose -p {project} ps --all --format json && docker images -q"
                f" && cat {place}/.mqctl/record.json"
                f" && sha256sum {place}/compose.yaml {place}/site.conf",
                *("-o", control),
            )
        self.ssh("true", "-o", control, "-O", "exit")

    def run(self, argv: list[str]) -> str:
        """Run a program as the operator; an error is an error."""
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{Path(argv[0]).name} ended with {done.returncode}: {done.stderr}")
        return done.stdout
