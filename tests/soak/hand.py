"""A hand that disturbs Playgrounds at random, and remembers which ones and how."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.bed import Host
from tests.support.looks import tree
from tests.support.operators import Operator

BUDGET = 2
COOLDOWN = 2.0  # seconds
PAGE = "page/index.html"
FORMS = ("shipped", "moving", "source")


class Hand:
    """Some Playgrounds on ``east-1``: each has a shipped file, follows a tag, or has a checkout."""

    def __init__(self, operator: Operator, count: int, seed: int) -> None:
        self.operator = operator
        self.host: Host = operator.hosts["east-1"]
        self.names = [f"{FORMS[number % len(FORMS)]}-{number}" for number in range(count)]
        self.touched: set[str] = set()  # whose containers, input, commits or images were disturbed
        self.work: dict[str, dict[str, bytes]] = {}  # dirty checkouts, as somebody left them
        self.history: list[str] = []
        self._random = random.Random(seed)  # noqa: S311 - it decides what breaks, nothing secret
        self._count = 0
        operator.declared["policy"] |= {
            "rollout_budget": BUDGET,
            "rollout_cooldown": f"{COOLDOWN:g}s",
        }
        for name in self.names:
            self._declare(name)

    def _declare(self, name: str) -> None:
        self.touched.add(name)
        web: dict[str, object] = {"image": "nginx:alpine", "environment": {"LEVEL": "0"}}
        keys: dict[str, object] = {}
        files = None
        match name.partition("-")[0]:
            case "shipped":
                web["volumes"], files = ["./page:/usr/share/page:ro"], {PAGE: "0\n"}
            case "moving":
                web["image"], keys = f"acme/{name}:1", {"pull_policy": "always"}
                self.operator.bed.registry.push(f"acme/{name}:1", marker="0")
            case _:
                web["volumes"] = ["./app:/src:ro"]
                keys = {"checkouts": {"app": {"prop": name}}}
                self.operator.bed.git.repo(f"soak/{name}").commit({"README": "0\n"})
                self.operator.prop(name, f"soak/{name}")
        self.operator.playspec(name, {"services": {"web": web}}, files, **keys)
        self.operator.playground(name, name)

    # ------------------------------------------------------------------ the disturbances

    def disturb(self) -> None:
        """One deed, or two."""
        for _ in range(self._random.randint(1, 2)):
            deed = self._random.choice(self._deeds())
            name = self._random.choice(self.names)
            self.history.append(f"{deed.__name__} {name}")
            deed(name)

    def _deeds(self) -> tuple[Callable[[str], None], ...]:
        return (
            *(self.stop, self.kill, self.remove, self.pause, self.restart, self.cut_off),
            *(self.edit, self.edit, self.change_what_it_uses, self.change_what_it_uses),
            *(self.work_on_it, self.finish_work, self.leave_a_one_off, self.restart_docker),
        )

    def container(self, name: str) -> str:
        """The one container that a Playground has."""
        return f"{self.operator.project(name)}-web-1"

    def _docker(self, name: str, *words: str) -> None:
        """To a container that may be gone or stopped already: whatever comes of it."""
        self.touched.add(name)
        self.host.docker(*words, check=False)

    def stop(self, name: str) -> None:
        self._docker(name, "stop", "-t", "1", self.container(name))

    def kill(self, name: str) -> None:
        self._docker(name, "kill", self.container(name))

    def remove(self, name: str) -> None:
        self._docker(name, "rm", "-f", self.container(name))

    def pause(self, name: str) -> None:
        self._docker(name, "pause", self.container(name))

    def restart(self, name: str) -> None:
        self._docker(name, "restart", "-t", "1", self.container(name))

    def cut_off(self, name: str) -> None:
        """It is stopped, and somebody tidies up networks that nothing uses."""
        self.stop(name)
        self._docker(name, "network", "rm", f"{self.operator.project(name)}_default")

    def edit(self, name: str) -> None:
        """Somebody edits the Compose file."""
        self.touched.add(name)
        path = self.operator.folder / name / "compose.yaml"
        text = path.read_text()
        level = text.partition('"LEVEL": "')[2].partition('"')[0]
        path.write_text(text.replace(f'"LEVEL": "{level}"', f'"LEVEL": "{self._next()}"'))

    def change_what_it_uses(self, name: str) -> None:
        """Somebody edits the shipped file, moves the tag, or pushes a commit."""
        self.touched.add(name)
        match name.partition("-")[0]:
            case "shipped":
                (self.operator.folder / name / PAGE).write_text(f"{self._next()}\n")
            case "moving":
                self.operator.bed.registry.push(f"acme/{name}:1", marker=f"{self._next()}")
            case _:
                self.operator.bed.git.repo(f"soak/{name}").commit({"README": f"{self._next()}\n"})

    def work_on_it(self, name: str) -> None:
        """Somebody begins to work in the checkout, if there is one."""
        app = self.operator.directory(name) / "app"
        if app.exists() and name not in self.work:
            (app / "work.txt").write_text(f"{self._next()}\n")
            self.work[name] = tree(app)

    def finish_work(self, name: str) -> None:
        """That work is done."""
        if self.work.pop(name, None):
            self.touched.add(name)  # what waited for it may come now
            (self.operator.directory(name) / "app" / "work.txt").unlink()

    def leave_a_one_off(self, name: str) -> None:
        """Somebody tries something in a container beside the others, and leaves it."""
        compose = "docker compose -f compose.yaml -f .mqctl/override.yaml run -d web"
        self.host.sh(f"cd {self.operator.directory(name)} && {compose} >/dev/null 2>&1 || :")

    def restart_docker(self, name: str) -> None:
        """The daemon is restarted; it takes the containers with it."""
        del name
        self.touched.update(self.names)
        self.host.stop_docker()
        self.host.start_docker()

    def _next(self) -> int:
        self._count += 1
        return self._count

    # ------------------------------------------------------------------ the end

    def finish_all_work(self) -> None:
        """Nobody works anywhere any more."""
        for name in list(self.work):
            self.finish_work(name)

    def work_is_untouched(self) -> bool:
        """Whether every dirty checkout is as somebody left it, byte for byte."""
        return all(
            tree(self.operator.directory(name) / "app") == left for name, left in self.work.items()
        )
