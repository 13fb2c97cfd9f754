"""``lib_git.sh`` on real checkouts: every kind of work is seen, and vetoes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mqctl.host.facts import GitState
from mqctl.host.git import parse_states
from mqctl.host.scripts import script
from mqctl.phases.git_state import classify

AUTHOR = {
    f"GIT_{who}_{what}": "ann@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


class Place:
    """A Marquee's directory with one checkout, and its remote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.app = root / "app"

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *words],
            cwd=cwd or self.app,
            env={**AUTHOR, "PATH": os.environ["PATH"], "HOME": str(self.root)},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, name: str) -> None:
        (self.app / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-qm", name)

    def say(self, command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", f"{script('lib_veto', 'git')}\n{command}"],
            env={
                "MQCTL_DIR": str(self.root),
                "PATH": os.environ["PATH"],
                "LC_ALL": "C",
            },
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def state(self) -> GitState:
        return parse_states(self.say("git_state app main"))["app"]

    def vetoed(self) -> bool:
        return self.say("clean_or_leave app main; echo passed").splitlines()[-1] != "passed"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone with two commits and an ignored file."""
    place = Place(tmp_path_factory.mktemp("git"))
    place.git("init", "-q", "--bare", str(place.root / "remote.git"), cwd=place.root)
    place.git("clone", "-q", str(place.root / "remote.git"), str(place.app), cwd=place.root)
    place.git("checkout", "-qb", "main")
    for name in ("zero", "one"):
        place.commit(name)
    place.git("push", "-q", "--set-upstream", "origin", "main")
    (place.app / ".gitignore").write_text("*.log\n")
    place.git("add", ".gitignore")
    place.git("commit", "-qm", "ignore")
    place.git("push", "-q")
    (place.app / "a.log").write_text("ignored")
    return place.root


@pytest.fixture
def place(original: Path, tmp_path: Path) -> Place:
    shutil.copytree(original, tmp_path / "copy")
    return Place(tmp_path / "copy")


def test_a_real_clean_checkout_is_clean(place: Place) -> None:
    state = place.state()
    assert not state.dirty, state.describe()
    assert (state.branch, state.head, state.tip) == (
        "main",
        place.git("rev-parse", "HEAD"),
        state.head,
    )
    assert classify(state) == "clean"
    assert not place.vetoed()


def stash(place: Place) -> None:
    (place.app / "one").write_text("changed")
    place.git("stash", "-q")


def other_branch(place: Place) -> None:
    place.git("checkout", "-qb", "mine")
    place.commit("two")
    place.git("checkout", "-q", "main")


def merge(place: Place) -> None:
    other_branch(place)
    place.git("push", "-q", "origin", "mine")
    place.git("merge", "-q", "--no-commit", "--no-ff", "mine")


def rebase(place: Place) -> None:
    place.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-qi", "HEAD~1")


def untracked(place: Place) -> None:
    (place.app / "folder").mkdir()
    (place.app / "folder" / "new").touch()


def staged(place: Place) -> None:
    (place.app / "new").touch()
    place.git("add", "new")


def off_any_branch(place: Place) -> None:
    place.git("checkout", "-q", "--detach")
    place.commit("two")


def hidden(place: Place, how: str) -> None:
    place.git("update-index", how, "one")
    (place.app / "one").write_text("changed")


DIRT: dict[str, Callable[[Place], object]] = {
    "a change": lambda at: (at.app / "one").write_text("changed"),
    "a staged change": staged,
    "an untracked file": lambda at: (at.app / "new").write_text(""),
    "an untracked file in a folder": untracked,
    "a removed file": lambda at: (at.app / "one").unlink(),
    "a commit": lambda at: at.commit("two"),
    "a commit on another branch": other_branch,
    "a commit on a detached head": off_any_branch,
    "a stash": stash,
    "a merge": merge,
    "a rebase": rebase,
    "a hidden change": lambda at: hidden(at, "--assume-unchanged"),
    "a skipped change": lambda at: hidden(at, "--skip-worktree"),
    "a head that points nowhere": lambda at: (at.app / ".git/HEAD").write_text("nonsense\n"),
    "a broken index": lambda at: (at.app / ".git/index").write_bytes(b"DIRC broken"),
    "a lost repository": lambda at: shutil.rmtree(at.app / ".git"),
    "a folder that is gone": lambda at: shutil.rmtree(at.app),
}


@pytest.mark.parametrize("dirt", DIRT)
def test_real_dirt_is_seen_and_vetoes(place: Place, dirt: str) -> None:
    DIRT[dirt](place)
    state = place.state()
    assert state.dirty
    assert state.describe()
    assert place.vetoed()


def test_a_clone_of_an_empty_repository_holds_nothing_to_lose(place: Place) -> None:
    place.git("init", "-q", "--bare", str(place.root / "empty.git"), cwd=place.root)
    place.git("clone", "-q", str(place.root / "empty.git"), str(place.root / "b"), cwd=place.root)
    place.app = place.root / "b"
    state = parse_states(place.say("git_state b main"))["b"]
    assert not state.dirty, state.describe()
    assert state.head == ""


def test_a_remote_address_cannot_speak_for_the_checkout(place: Place) -> None:
    place.commit("two")
    place.git("config", "remote.origin.url", "x\nlocal 0\ncheckout other\nbranch main\nlocal 0")
    said = parse_states(place.say("git_state app main"))
    assert list(said) == ["app"]
    assert said["app"].local_commits == 1
    assert place.vetoed()
