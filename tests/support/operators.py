"""Someone who keeps a declared file and runs mqctl as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bed import Bed, Host
from tests.support.ran import Ran, Running

WRAPPED = Path(__file__).with_name("wrapped.py")
# Nothing waits longer than a test is worth.
POLICY = {
    "apply_grace": "0s",
    "rollout_cooldown": "1s",
    "unhealthy_after": "5s",
    "health_wait": "6s",
    "chat_grace": "0s",
    "orphan_grace": "0s",
    "connect_timeout": "5s",
    "command_timeout": "20s",
    "apply_timeout": "60s",
    "shutdown_grace": "5s",
}


class Operator:
    """One declared file. Change ``declared`` as you like; each run writes it anew."""

    def __init__(self, bed: Bed, folder: Path, fleet: str, hosts: Iterable[Host]) -> None:
        self.bed = bed
        self.folder = folder
        self.fleet = fleet
        self.hosts = {host.name: host for host in hosts}
        self.declared: dict[str, Any] = {
            "version": 1,
            "fleet": fleet,
            "redis": {"url": bed.redis.url, "timeout": "500ms"},
            "lock": {"ttl": "60s"},
            "policy": dict(POLICY),
            "props": {},
            "playspecs": {},
            "marquees": {
                name: {"host": name, "user": host.user, "playgrounds": {}, "agent_chats": {}}
                for name, host in self.hosts.items()
            },
        }
        self.environ = bed.env() | {"XDG_STATE_HOME": str(folder / "state")}
        self._running: list[Running] = []

    # ------------------------------------------------------------------ the declared file

    def marquee(self, name: str = "east-1") -> dict[str, Any]:
        """The declaration of a Marquee, to be changed in place."""
        found: dict[str, Any] = self.declared["marquees"][name]
        return found

    def playspec(
        self,
        name: str,
        compose: Mapping[str, Any] | str,
        files: Mapping[str, str] | None = None,
        **keys: object,
    ) -> Path:
        """Declare a Playspec and write its Compose file; give its folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        text = compose if isinstance(compose, str) else json.dumps(compose, indent=1)
        (folder / "compose.yaml").write_text(text)
        for path, content in (files or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        shipped = {"files": sorted(files)} if files else {}
        self.declared["playspecs"][name] = {"compose_file": f"{name}/compose.yaml"} | shipped | keys
        return folder

    def playground(
        self, name: str, playspec: str, *, on: str = "east-1", **keys: object
    ) -> dict[str, Any]:
        """Declare a Playground; give its declaration, to be changed in place."""
        declared = {"playspec": playspec} | keys
        self.marquee(on)["playgrounds"][name] = declared
        return declared

    def prop(self, name: str, repository: str, **keys: object) -> None:
        """Declare a Prop that is fetched over SSH with the bed's key."""
        home = Path(self.environ["HOME"])
        self.declared["props"][name] = {
            "repository_url": self.bed.git.repo(repository).ssh_url,
            "credentials": {"ssh_key": {"file": str(home / ".ssh" / "shop")}},
            "known_hosts_file": str(home / ".ssh" / "git_known_hosts"),
        } | keys

    def project(self, name: str, on: str = "east-1") -> str:
        """The Compose project of a Playground."""
        return f"{self.fleet}_{on}_{name}"

    def place(self, on: str = "east-1") -> Path:
        """Where mqctl keeps a Marquee's things on its host (the bed's hosts share our disk)."""
        return self.hosts[on].home / ".mqctl" / self.fleet / on

    def directory(self, name: str, on: str = "east-1") -> Path:
        """The directory of a Playground's project on its host."""
        return self.place(on) / "projects" / self.project(name, on)

    def key(self, what: str, on: str = "east-1") -> str:
        """A key in Redis."""
        return f"mqctl:{{{self.fleet}/{on}}}:{what}"

    # ------------------------------------------------------------------ running mqctl

    def start(self, *arguments: str, hooks: Sequence[str] = ()) -> Running:
        """Start mqctl in the background, telling its events line by line.

        ``hooks`` are what ``wrapped.py`` takes: deeds at named events.
        """
        program = [str(WRAPPED), *hooks, "--"] if hooks else ["-m", "mqctl"]
        form = [] if "-o" in arguments else ["-o", "jsonl"]
        running = self._spawn([*program, *arguments, *form])
        self._running.append(running)
        return running

    def run(self, *arguments: str, environ: Mapping[str, str] | None = None) -> Ran:
        """Run mqctl to its end, with JSON as its answer."""
        form = [] if "-o" in arguments else ["-o", "json"]
        return self._spawn(["-m", "mqctl", *arguments, *form], environ).wait()

    def reconcile(self, *arguments: str) -> Ran:
        """One cycle on ``east-1``, or on what the arguments say."""
        named = [one for one in arguments if not one.startswith("-")]
        return self.run("reconcile", *([] if named else ["east-1"]), *arguments)

    def _spawn(self, arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> Running:
        path = self.folder / "marquees.yaml"
        path.write_text(json.dumps(self.declared, indent=1))
        out = self.folder / f"out-{time.monotonic_ns()}"
        with out.open("wb") as stdout, out.with_suffix(".err").open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self.folder,
                env=self.environ | dict(environ or {}),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        return Running(process, out)

    def leave(self) -> None:
        """End what still runs."""
        for one in self._running:
            if one.process.poll() is None:
                for number in (signal.SIGKILL, signal.SIGCONT):
                    os.kill(one.process.pid, number)
                one.process.wait(10)
