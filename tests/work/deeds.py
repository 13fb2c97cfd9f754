"""What people do in a checkout that they forgot is not theirs."""

from __future__ import annotations

from tests.work.checkout import Deed, Site, git


def change_tracked(site: Site) -> None:
    """Edit a file that git knows."""
    name = f"file{site.random.randint(0, 3)}.txt"
    path = site.app / name
    if path.exists():
        path.write_text(path.read_text() + site.token("change_tracked"))


def add_untracked(site: Site) -> None:
    """A new file, maybe in a new folder, with a name of its own."""
    name = site.random.choice(["notes.txt", "a b.txt", "ünïcode/ß.txt", "-dash", "deep/er/x"])
    path = site.app / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(site.token("add_untracked"))


def add_ignored(site: Site) -> None:
    """A file that .gitignore names."""
    token = site.token("add_ignored")
    site.ignored.add(token)
    (site.app / "debug.log").write_text(token)


def stage(site: Site) -> None:
    """Edit, stage, and edit again, so that index and file differ."""
    path = site.app / "staged.txt"
    path.write_text(site.token("stage: index"))
    git(site.app, "add", "staged.txt", check=False)
    path.write_text(site.token("stage: file"))


def commit(site: Site) -> None:
    """A commit on the branch that mqctl follows."""
    (site.app / "mine.txt").write_text(site.token("commit"))
    git(site.app, "add", "mine.txt", check=False)
    git(site.app, "commit", "-q", "-m", "mine", check=False)


def commit_elsewhere(site: Site) -> None:
    """A commit on another branch, and back again."""
    name = f"side-{site.random.getrandbits(16)}"
    git(site.app, "checkout", "-q", "-b", name, check=False)
    (site.app / f"{name}.txt").write_text(site.token("commit_elsewhere"))
    git(site.app, "add", f"{name}.txt", check=False)
    git(site.app, "commit", "-q", "-m", "side", check=False)
    git(site.app, "checkout", "-q", "main", check=False)


def commit_detached(site: Site) -> None:
    """A commit on no branch at all."""
    git(site.app, "checkout", "-q", "--detach", check=False)
    (site.app / "lonely.txt").write_text(site.token("commit_detached"))
    git(site.app, "add", "lonely.txt", check=False)
    git(site.app, "commit", "-q", "-m", "lonely", check=False)


def stash(site: Site) -> None:
    """Put work away, maybe twice."""
    for _ in range(site.random.randint(1, 2)):
        (site.app / "stashed.txt").write_text(site.token("stash"))
        git(site.app, "stash", "push", "-q", "--include-untracked", check=False)


def hide(site: Site) -> None:
    """Change a file and tell git to look away."""
    name = "file0.txt"
    if (site.app / name).exists():
        option = site.random.choice(["--assume-unchanged", "--skip-worktree"])
        git(site.app, "update-index", option, name, check=False)
        (site.app / name).write_text(site.token("hide"))


def half_merge(site: Site) -> None:
    """Stop in the middle of a merge."""
    git(site.app, "checkout", "-q", "-B", "topic", check=False)
    (site.app / "file0.txt").write_text(site.token("half_merge: topic"))
    git(site.app, "commit", "-q", "-am", "topic", check=False)
    git(site.app, "checkout", "-q", "main", check=False)
    (site.app / "file0.txt").write_text(site.token("half_merge: main"))
    git(site.app, "commit", "-q", "-am", "main", check=False)
    git(site.app, "merge", "topic", check=False)


def half_rebase(site: Site) -> None:
    """Stop in the middle of a rebase."""
    git(site.app, "checkout", "-q", "-B", "again", check=False)
    (site.app / "file0.txt").write_text(site.token("half_rebase: again"))
    git(site.app, "commit", "-q", "-am", "again", check=False)
    git(site.app, "checkout", "-q", "-B", "base", "main", check=False)
    (site.app / "file0.txt").write_text(site.token("half_rebase: base"))
    git(site.app, "commit", "-q", "-am", "base", check=False)
    git(site.app, "rebase", "base", "again", check=False)


def nested(site: Site) -> None:
    """A repository of one's own inside the checkout."""
    inner = site.app / "inner"
    inner.mkdir(exist_ok=True)
    git(inner, "init", "-q")
    (inner / "x").write_text(site.token("nested"))


def worktree(site: Site) -> None:
    """A linked worktree outside, whose commit lives in this repository."""
    outside = site.folder / f"tree-{site.random.getrandbits(16)}"
    git(site.app, "worktree", "add", "-q", "--detach", str(outside), check=False)
    if outside.exists():
        (outside / "w.txt").write_text(site.token("worktree"))


def stale_lock(site: Site) -> None:
    """A git that was killed left its lock, and something was half done."""
    (site.app / ".git" / "index.lock").touch()
    (site.app / "half.txt").write_text(site.token("stale_lock"))


def corrupt(site: Site) -> None:
    """The repository cannot be read any more; what was written beside it can."""
    (site.app / "beside.txt").write_text(site.token("corrupt"))
    (site.app / ".git" / "HEAD").write_text("garbage\n")


def delete_tracked(site: Site) -> None:
    """Remove a file on purpose, and note why."""
    (site.app / "why.txt").write_text(site.token("delete_tracked"))
    (site.app / "file0.txt").unlink(missing_ok=True)


def link(site: Site) -> None:
    """A symbolic link is content, too."""
    (site.app / "link").unlink(missing_ok=True)
    (site.app / "link").symlink_to(site.token("link"))


def nothing(site: Site) -> None:
    """Look, and touch nothing."""
    git(site.app, "status", check=False)


DEEDS: tuple[Deed, ...] = (
    change_tracked,
    add_untracked,
    add_ignored,
    stage,
    commit,
    commit_elsewhere,
    commit_detached,
    stash,
    hide,
    half_merge,
    half_rebase,
    nested,
    worktree,
    stale_lock,
    corrupt,
    delete_tracked,
    link,
    nothing,
    nothing,
)
