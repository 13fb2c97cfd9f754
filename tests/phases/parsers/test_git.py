"""What ``lib_git.sh`` says of a checkout, read back; clean is only what says so in full."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.host.facts import GitState
from mqctl.host.git import Tips, parse_states, parse_tips
from mqctl.host.scripts import script
from mqctl.phases.git_state import classify

SHA = "a" * 40
CLEAN = f"""checkout projects/p/app
branch main
changes 0
origin ssh://git@git.example.com/shop.git
head {SHA}
local 0
hidden 0
tip {SHA}
apart 0 0
"""


def state_of(text: str) -> GitState:
    (only,) = parse_states(text).values()
    return only


def test_a_clean_checkout() -> None:
    state = state_of(CLEAN)
    assert not state.dirty
    assert (state.head, state.branch, state.tip) == (SHA, "main", SHA)
    assert state.origin == "ssh://git@git.example.com/shop.git"
    assert (state.ahead, state.behind) == (0, 0)


def test_several_checkouts_and_nothing_at_all() -> None:
    two = parse_states(CLEAN + CLEAN.replace("/app", "/lib").replace("changes 0", "changes 2"))
    assert {name: one.dirty for name, one in two.items()} == {
        "projects/p/app": False,
        "projects/p/lib": True,
    }
    assert parse_states("") == {}


def test_an_answer_that_was_cut_is_dirty() -> None:
    first, last = len("checkout projects/p/app\n"), CLEAN.index("hidden 0") + len("hidden ")
    assert [end for end in range(first, last + 1) if not state_of(CLEAN[:end]).dirty] == []


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("changes 0", "changes 1"),
        ("changes 0", "changes -1"),
        ("changes 0", "changes"),
        ("changes 0", "changes many"),
        ("local 0", "local 12"),
        ("hidden 0", "hidden 3"),
        ("hidden 0", "operation rebase\nhidden 0"),
        ("local 0", "error fatal: not a valid object name"),
        ("apart 0 0", "apart 0"),
        ("apart 0 0", "apart 1 2 3"),
    ],
)
def test_anything_else_is_dirty(line: str, instead: str) -> None:
    state = state_of(CLEAN.replace(line, instead))
    assert state.dirty
    assert state.describe()


def test_the_first_word_counts_so_that_a_later_line_takes_nothing_back() -> None:
    assert state_of(CLEAN.replace("changes 0", "changes 1") + "changes 0\n").dirty


def test_a_detached_head_is_on_no_branch() -> None:
    assert state_of(CLEAN.replace("branch main", "branch (detached)")).branch == ""


@given(st.text(max_size=300))
def test_garbage_is_read_without_complaint(text: str) -> None:
    parse_states(text)
    parse_tips(text)


def test_tips() -> None:
    found = parse_tips(
        f"repository r0 ok\n{SHA}\trefs/heads/main\n{SHA}\trefs/heads/feature/login\n"
        "repository r1 failed\nerror Permission denied (publickey).\n"
        "repository r2 ok\n\nrepository r3 failed\n"
    )
    assert found == {
        "r0": Tips({"main": SHA, "feature/login": SHA}),
        "r1": Tips(error="Permission denied (publickey)."),
        "r2": Tips(),
        "r3": Tips(error="the remote gave no reason"),
    }


def test_tips_before_any_repository_belong_to_none() -> None:
    assert parse_tips(f"{SHA}\trefs/heads/main\nerror x\n") == {}


# --------------------------------------------------------------- the real thing, on this machine


class Place:
    """A Marquee's directory with one checkout, and its remote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.app = root / "app"

    def git(self, *words: str, cwd: Path | None = None, check: bool = True) -> str:
        names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *words],
            cwd=cwd or self.app,
            env={**names, "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.root)},
            check=check,
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
            env={"MQCTL_DIR": str(self.root), "PATH": "/usr/bin:/bin:/usr/local/bin", "LC_ALL": "C"},
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
    assert (state.branch, state.head, state.tip) == ("main", place.git("rev-parse", "HEAD"), state.head)
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


DIRT: dict[str, Callable[[Place], object]] = {
    "a change": lambda at: (at.app / "one").write_text("changed"),
    "a staged change": lambda at: ((at.app / "new").write_text(""), at.git("add", "new")),
    "an untracked file": lambda at: (at.app / "new").write_text(""),
    "an untracked file in a folder": lambda at: ((at.app / "a").mkdir(), (at.app / "a/b").touch()),
    "a removed file": lambda at: (at.app / "one").unlink(),
    "a commit": lambda at: at.commit("two"),
    "a commit on another branch": other_branch,
    "a commit on a detached head": lambda at: (at.git("checkout", "-q", "--detach"), at.commit("two")),
    "a stash": stash,
    "a merge": merge,
    "a rebase": rebase,
    "a hidden change": lambda at: (
        at.git("update-index", "--assume-unchanged", "one"),
        (at.app / "one").write_text("changed"),
    ),
    "a skipped change": lambda at: (
        at.git("update-index", "--skip-worktree", "one"),
        (at.app / "one").write_text("changed"),
    ),
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
