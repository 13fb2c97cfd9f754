"""A checkout as mqctl makes it, a person who works in it, and the search for what they wrote.

The scripts that move and remove checkouts run here as they run on a Marquee, without SSH and
Docker: they are plain shell and git.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mqctl.host.bundle import bundle
from mqctl.host.git import parse_states
from mqctl.host.scripts import script

PROJECT = "acme_east-1_demo"
CHECKOUT = f"projects/{PROJECT}/app"
CLONE = script("git_clone", "private", "git")
ADVANCE = script("git_advance", "private", "git")
REMOVE = script("directory_remove", "git")
LOOK = script("observe", "docker", "git")
_PERSON = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
}


def git(directory: Path, *words: str, check: bool = True) -> str:
    """Run git as a person would."""
    done = subprocess.run(
        ["git", *words],
        cwd=directory,
        env={**os.environ, **_PERSON},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout


@dataclass
class Site:
    """A Marquee's directory, a remote, and all that a person wrote (token -> what happened)."""

    folder: Path
    random: Random
    written: dict[str, str] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    deeds: list[str] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.root = self.folder / "mqctl"
        (self.root / ".trash").mkdir(parents=True)
        self.remote = self.folder / "remote.git"
        self.other = self.folder / "other"
        git(self.folder, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.folder, "clone", "-q", str(self.remote), str(self.other))
        git(self.other, "checkout", "-q", "-B", "main")
        (self.other / ".gitignore").write_text("*.log\n")
        for _ in range(self.random.randint(1, 4)):
            self.remote_commit()
        git(self.other, "branch", "feature")
        git(self.other, "push", "-q", "origin", "feature")
        self.run(CLONE, PROJECT, self.marker, "app", self.remote.as_uri(), "main")

    marker = '{"fleet":"acme","marquee":"east-1","project":"acme_east-1_demo","format":1}\n'

    @property
    def app(self) -> Path:
        """The checkout."""
        return self.root / CHECKOUT

    # ------------------------------------------------------------------ what mqctl does

    def run(self, text: str, *words: str) -> str:
        """Run one of the host-side scripts as the guard does."""
        done = subprocess.run(
            ["sh", "-c", text, "mqctl", *words],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C",
                 "MQCTL_DIR": str(self.root), "MQCTL_FENCE": "7"},
            input=bundle({}),
            capture_output=True,
            check=False,
        )  # fmt: skip
        return done.stdout.decode() + done.stderr.decode()

    def advance(self, branch: str) -> str:
        """The guarded script that moves the checkout."""
        return self.run(ADVANCE, CHECKOUT, branch)

    def remove(self) -> str:
        """The guarded script that removes the directory."""
        return self.run(REMOVE, PROJECT, "")

    def dirty(self) -> bool:
        """What the observation says."""
        answer = self.run(LOOK, CHECKOUT, "main").partition("@checkouts\n")[2]
        return parse_states(answer.partition("@pulled")[0])[CHECKOUT].dirty

    # ------------------------------------------------------------------ what people do

    def token(self, deed: str) -> str:
        """Something that nobody wrote before."""
        self._count += 1
        token = f"work-{self._count:04d}-{self.random.getrandbits(64):016x}"
        self.written[token] = deed
        return token

    def remote_commit(self) -> None:
        """Somebody else pushes to main."""
        name = f"file{self.random.randint(0, 3)}.txt"
        (self.other / name).write_text(f"{self.random.getrandbits(64)}\n" * 3)
        git(self.other, "add", "-A")
        git(self.other, "commit", "-q", "--allow-empty", "-m", "change")
        git(self.other, "push", "-q", "origin", "HEAD:main")

    def remote_force(self) -> None:
        """Somebody else rewrites main."""
        git(self.other, "commit", "-q", "--amend", "-m", f"{self.random.getrandbits(32)}")
        git(self.other, "push", "-q", "-f", "origin", "HEAD:main")

    # ------------------------------------------------------------------ is it still there

    def lost(self, *, and_ignored: bool) -> list[str]:
        """The deeds whose bytes are nowhere any more: not in files, index, refs or stashes."""
        kept = self._kept()
        return [
            f"{deed} ({token})"
            for token, deed in self.written.items()
            if token.encode() not in kept and (and_ignored or token not in self.ignored)
        ]

    def _kept(self) -> bytes:
        parts = [
            path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and not path.is_symlink() and ".git" not in path.parts
        ]
        parts += [str(p.readlink()).encode() for p in self.folder.rglob("*") if p.is_symlink()]
        parts += [self._objects(self.app), self._objects(self.remote)]
        return b"\n".join(parts)

    def _objects(self, directory: Path) -> bytes:
        if not directory.exists():
            return b""
        stashes = git(directory, "stash", "list", "--format=%H", check=False).split()
        names = git(directory, "rev-list", "--objects", "--all", "HEAD", *stashes, check=False)
        staged = git(directory, "ls-files", "-s", check=False)
        ids = {line.split()[0] for line in names.splitlines()}
        ids |= {line.split()[1] for line in staged.splitlines()}
        return subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=directory,
            input="".join(f"{one}\n" for one in ids).encode(),
            capture_output=True,
            check=False,
        ).stdout


Deed = Callable[[Site], None]
