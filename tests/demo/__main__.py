"""The story. Everything in it is real: Redis, two `sshd`, two `dockerd`, Git over SSH, a registry.

Only the images are small ones of ours under public names: `nginx:alpine` is a web server from
busybox that serves /www on port 8080, since nothing is downloaded from the Internet here.
"""

from __future__ import annotations

import sys
import urllib.request

from tests.bed import Bed, BedError, GitRepo, Host, MissingPartsError, wait_until
from tests.demo.show import Show, say

SHOP = """\
services:
  web:
    image: nginx:alpine
    ports: ["8000:8080"]
    volumes: ["./html:/www:ro"]
    restart: unless-stopped
"""
EXAMPLE = "marquees.example.yaml"
SHOP_CONTAINER = "acme_east-1_shop-web-1"


def page(version: int) -> dict[str, str]:
    """The web shop's files."""
    return {"html/index.html": f"shop, version {version}\n", "html/health": "ok\n"}


class Stage:
    """Two hosts and a repository, as the example file names them."""

    def __init__(self, bed: Bed) -> None:
        bed.seed_images()
        bed.registry.push("nginx:alpine", "http")
        self.shop: GitRepo = bed.git.repo("acme/shop")
        self.shop.commit({"compose.yaml": SHOP, **page(1)})
        self.east, self.west = bed.hosts("east-1", "west-1")
        self.bed = bed
        self._port = self.east.forward(8000)

    def page(self) -> str:
        """What a visitor of the shop reads, "" if nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/", timeout=5) as answer:
                return str(answer.read().decode()).strip()
        except OSError:
            return ""

    def containers(self, host: Host) -> dict[str, str]:
        """The ids of all containers of a host by name."""
        rows = host.docker("ps", "-a", "--no-trunc", "--format", "{{.Names}} {{.ID}}")
        return dict(row.split() for row in rows.splitlines())

    def all_containers(self) -> dict[str, str]:
        """The ids of the containers of both hosts."""
        return self.containers(self.east) | self.containers(self.west)


def plan(show: Show, stage: Stage) -> None:
    """A dry run: everything is planned, nothing is touched."""
    show.chapter("What would be done on two empty hosts?")
    show.mqctl("config", "check")
    told = show.mqctl("reconcile", "--all", "--dry-run")
    show.expect("both cycles are planned", "2 Marquees: 2 planned" in told)
    show.expect("no host has a container", not stage.all_containers())
    show.expect("Redis holds nothing", stage.bed.redis.cli("KEYS", "*") == "")


def first_cycle(show: Show, stage: Stage) -> None:
    """The real thing."""
    show.chapter("Do it")
    told = show.mqctl("reconcile", "--all")
    show.expect("both Marquees changed", "2 Marquees: 2 changed" in told)
    show.expect("the shop answers", stage.page() == "shop, version 1", stage.page())


def second_cycle(show: Show, stage: Stage) -> None:
    """Nothing to do."""
    show.chapter("And again")
    before = stage.all_containers()
    told = show.mqctl("reconcile", "--all", "--verbose")
    show.expect("both are unchanged", "2 Marquees: 2 unchanged" in told)
    show.expect("every container is the same one", stage.all_containers() == before)


def repair(show: Show, stage: Stage) -> None:
    """Drift is found and repaired; what is well is left alone."""
    show.chapter("Somebody stops a container")
    before = stage.all_containers()
    say(f"$ ssh docker1.example.com docker stop {SHOP_CONTAINER}")
    stage.east.docker("stop", SHOP_CONTAINER)
    told = show.mqctl("reconcile", "east-1")
    show.expect("a repair waits for apply_grace, and says so", "grace: " in told)
    told = show.mqctl("reconcile", "east-1", "--now")
    show.expect("with --now the shop is rolled out", "1 rollout" in told)
    wait_until(lambda: stage.page() != "", "the shop")
    show.expect("the shop answers again", stage.page() == "shop, version 1", stage.page())
    after = stage.all_containers()
    others = before.keys() - {SHOP_CONTAINER}
    show.expect(
        "no other container was touched", all(after.get(one) == before[one] for one in others)
    )


def rollout(show: Show, stage: Stage) -> None:
    """A new commit; while it is rolled out, another cycle is turned away."""
    show.chapter("A new commit, and two cycles at the same time")
    say("$ git push   # version 2 of the shop")
    stage.shop.commit(page(2), message="version 2")
    with show.meanwhile("reconcile", "east-1") as working:
        working.read_until("git-state", "phase", "ok")
        stage.east.pause_docker()  # so that it is still at work while we look around
        say("  ... it works; meanwhile, elsewhere:")
        told = show.mqctl("lock", "status")
        show.expect("the lock of east-1 is held, that of west-1 is free", held_and_free(told))
        told = show.mqctl("reconcile", "east-1", status=75)
        show.expect("a second cycle names the holder and leaves", "is held by " in told)
        stage.east.resume_docker()
        say("  ... and the first goes on:")
    show.expect("the new commit is rolled out", "commit-moved" in working.output)
    show.expect("visitors see it", stage.page() == "shop, version 2", stage.page())


def held_and_free(status: str) -> bool:
    """Whether `lock status` shows one lock of each kind."""
    states = dict(line.split()[:2] for line in status.splitlines() if line.split())
    return states.get("east-1") == "held" and states.get("west-1") == "free"


def afterwards(show: Show) -> None:
    """The locks are free, and what was done is on record."""
    show.chapter("Afterwards")
    told = show.mqctl("lock", "status")
    show.expect("no lock is held", " held " not in told)
    told = show.mqctl("history", "east-1")
    show.expect("the history has the repair and the rollout", told.count("rollout") > 1)


def main() -> int:
    """Run the demo; 0 if all was as expected."""
    try:
        with Bed() as bed:
            stage = Stage(bed)
            show = Show(bed.env() | {"MQCTL_CONFIG": EXAMPLE})
            say(f"Two Docker hosts, a Redis and a Git server are up; the file is {EXAMPLE}.")
            for chapter in (plan, first_cycle, second_cycle, repair, rollout):
                chapter(show, stage)
            afterwards(show)
    except (BedError, MissingPartsError) as error:
        say(f"demo: {error}")
        return 1
    return show.end(
        "a dry run that touched nothing, a first cycle, a second one that found nothing to do, "
        "a repair, a cycle turned away by the lock, a new commit rolled out"
    )


if __name__ == "__main__":
    sys.exit(main())
