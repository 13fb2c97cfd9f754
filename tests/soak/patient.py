"""A Marquee that is treated badly, and what can be done to it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bed import Bed

NAMES = ("one", "two", "three")
COMPOSE = "services: {web: {image: 'nginx:alpine', volumes: ['./site.conf:/site.conf:ro']}}\n"
SHOP = "services: {web: {image: 'nginx:alpine', volumes: ['./html:/www:ro']}}\n"
POLICY = {
    "apply_grace": "0s",
    "rollout_cooldown": "1s",
    "orphan_grace": "0s",
    "health_wait": "6s",
    "connect_timeout": "5s",
    "command_timeout": "30s",
    "shutdown_grace": "5s",
}
TTL = 12.0  # seconds of the lock
WORK = "somebody's work\n"


class Patient:
    """Four Playgrounds on one host. ``chance`` decides what happens to them."""

    def __init__(self, bed: Bed, chance: random.Random) -> None:
        bed.seed_images()
        self.bed, self.chance = bed, chance
        self.shop = bed.git.repo("acme/shop")
        self.shop.commit({"compose.yaml": SHOP, "html/index.html": "0\n"})
        self.host = bed.host("east-1")
        self.environ = bed.env()
        self.folder = bed.folder / "soak"
        self.folder.mkdir()
        (self.folder / "compose.yaml").write_text(COMPOSE)
        self._count = 0
        self.edit()
        self._declare()

    def _declare(self) -> None:
        playgrounds = {name: {"playspec": "site"} for name in NAMES}
        shops = {name: {"playspec": "shop"} for name in ("shop", "worked-on")}
        key = {"ssh_key": {"file": str(self.bed.git.ssh_key)}}
        declared: dict[str, Any] = {
            "version": 1,
            "fleet": "soak",
            "redis": {"url": self.bed.redis.url, "timeout": "1s"},
            "lock": {"ttl": f"{TTL:g}s"},
            "policy": POLICY,
            "props": {"shop": {"repository_url": self.shop.url, "credentials": key}},
            "playspecs": {
                "site": {"compose_file": "compose.yaml", "files": ["site.conf"]},
                "shop": {
                    "compose_file": {"checkout": "app", "path": "compose.yaml"},
                    "checkouts": {"app": {"prop": "shop"}},
                },
            },
            "marquees": {
                "east-1": {
                    "host": "east-1",
                    "user": self.host.user,
                    "playgrounds": playgrounds | shops,
                }
            },
        }
        (self.folder / "marquees.yaml").write_text(json.dumps(declared))

    # ------------------------------------------------------------------ cycles

    def start(self) -> subprocess.Popen[str]:
        """Start a cycle."""
        return subprocess.Popen(
            [sys.executable, "-m", "mqctl", "reconcile", "east-1", "--output", "json"],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def cycle(self) -> dict[str, Any]:
        """Run a cycle; give its report."""
        out, err = self.start().communicate(timeout=180)
        document = json.loads(out)
        assert document["exit_code"] != 70, err
        report: dict[str, Any] = document["cycles"][0]
        return report

    def recover(self, patience: float) -> list[str]:
        """Run cycles until one finds nothing to do; give how they ended."""
        end, outcomes = time.monotonic() + patience, list[str]()
        while time.monotonic() < end:
            report = self.cycle()
            outcomes.append(report["outcome"])
            if report["outcome"] == "unchanged":
                return outcomes
            time.sleep(0.5)
        raise AssertionError(f"it does not come right: {outcomes}; the last: {report}")

    # ------------------------------------------------------------------ somebody's work

    @property
    def work(self) -> str:
        """The path of a file in a checkout that nobody committed."""
        return ".mqctl/soak/east-1/projects/soak_east-1_worked-on/app/work.txt"

    def begin_work(self) -> None:
        """Make the checkout dirty."""
        (self.host.home / self.work).write_text(WORK)

    def work_is_there(self) -> bool:
        """Whether it is as somebody left it."""
        return (self.host.home / self.work).read_text() == WORK

    # ------------------------------------------------------------------ what goes wrong

    def troubles(self) -> list[Callable[[], None]]:
        """Everything that may happen."""
        return [
            *(self.edit, self.commit, self.stop_a_container, self.remove_a_container),
            *(self.kill_a_cycle, self.end_a_cycle, self.two_cycles),
            *(self.cut_the_network, self.drop_the_sessions, self.lose_redis, self.freeze_docker),
        ]

    def edit(self) -> None:
        """Somebody edits a shipped file."""
        self._count += 1
        (self.folder / "site.conf").write_text(f"version {self._count}\n")

    def commit(self) -> None:
        """Somebody pushes."""
        self._count += 1
        self.shop.commit({"html/index.html": f"{self._count}\n"})

    def stop_a_container(self) -> None:
        """Somebody stops a container."""
        self.host.docker("stop", "-t", "1", self._some_container())

    def remove_a_container(self) -> None:
        """Somebody removes a container."""
        self.host.docker("rm", "-f", self._some_container())

    def _some_container(self) -> str:
        return self.chance.choice(self.host.docker("ps", "-q").split() or ["none"])

    def kill_a_cycle(self) -> None:
        """The machine that runs a cycle loses power."""
        self._interrupt(signal.SIGKILL)

    def end_a_cycle(self) -> None:
        """Somebody ends a cycle in the middle."""
        self._interrupt(signal.SIGTERM)

    def _interrupt(self, number: signal.Signals) -> None:
        self.edit()
        running = self.start()
        time.sleep(self.chance.uniform(0.3, 5.0))
        os.kill(running.pid, number)
        running.communicate(timeout=60)

    def two_cycles(self) -> None:
        """Two cycles start together."""
        self.edit()
        both = [self.start(), self.start()]
        codes = sorted(one.communicate(timeout=180) and one.returncode for one in both)
        assert codes in ([0, 0], [0, 75]), codes

    def cut_the_network(self) -> None:
        """The network swallows everything for a while."""
        self.edit()
        running = self.start()
        time.sleep(self.chance.uniform(0.3, 3.0))
        self.host.partition()
        time.sleep(self.chance.uniform(1.0, 2 * TTL))
        self.host.heal()
        running.communicate(timeout=180)

    def drop_the_sessions(self) -> None:
        """The host drops its connections in the middle of a cycle."""
        self.edit()
        running = self.start()
        time.sleep(self.chance.uniform(0.5, 4.0))
        self.host.kill_sessions()
        running.communicate(timeout=180)

    def lose_redis(self) -> None:
        """Redis crashes in the middle of a cycle and comes back without its data."""
        self.edit()
        running = self.start()
        time.sleep(self.chance.uniform(0.3, 3.0))
        self.bed.redis.kill()
        self.bed.redis.start()
        running.communicate(timeout=180)

    def freeze_docker(self) -> None:
        """The Docker daemon hangs for a while."""
        self.edit()
        running = self.start()
        time.sleep(self.chance.uniform(0.3, 3.0))
        self.host.pause_docker()
        time.sleep(self.chance.uniform(0.5, TTL))
        self.host.resume_docker()
        running.communicate(timeout=180)
