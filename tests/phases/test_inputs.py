"""The input digest: everything that a project is made from, and nothing else, moves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mqctl.host.facts import GitState, ProjectFacts
from mqctl.host.record import Staged
from mqctl.model import Checkout, ComposeFile, Marquee, Playground, Playspec, Prop
from mqctl.phases.inputs import describe_change, digest, gather, references_changed
from mqctl.phases.projects import Project, of_playground
from mqctl.secret import SecretRef

HEAD = "a" * 40
SEEN = ProjectFacts("acme_east_demo", checkouts={"app": GitState(head=HEAD, branch="main")})


class Source:
    """A Playspec's folder on this machine, and a Playground made from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = SEEN
        self.salt = "salt"
        (folder / "conf.d").mkdir()
        for name in ("compose.yaml", "nginx.conf", "conf.d/site.conf", "not-shipped.txt"):
            (folder / name).write_text(name)
        prop = Prop("shop", "https://git.example.com/shop.git")
        self.playground = Playground(
            "demo",
            "acme_east_demo",
            Playspec("web", ComposeFile(str(folder / "compose.yaml")), ("nginx.conf", "conf.d")),
            (Checkout("app", prop, "main"),),
            {"LEVEL": "info"},
        )

    @property
    def project(self) -> Project:
        return of_playground(Marquee("east", "acme"), self.playground)

    def digest(self) -> str:
        found = gather(self.project, self.seen, self.salt)
        assert (found.unknown, found.error) == ("", "")
        return found.base


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def other_commit(source: Source) -> None:
    source.seen = replace(SEEN, checkouts={"app": GitState(head="b" * 40)})


def other_env(source: Source) -> None:
    source.playground = replace(source.playground, env={"LEVEL": "debug"})


def another_file(source: Source) -> None:
    (source.folder / "conf.d" / "more.conf").write_text("")


def other_salt(source: Source) -> None:
    source.salt = "pepper"


def other_name(source: Source) -> None:
    source.playground = replace(source.playground, name="docs")


MOVES: dict[str, Callable[[Source], object]] = {
    "the Compose file": lambda at: (at.folder / "compose.yaml").write_text("x"),
    "a shipped file": lambda at: (at.folder / "nginx.conf").write_text("x"),
    "a file in a shipped folder": lambda at: (at.folder / "conf.d/site.conf").write_text("x"),
    "another file in a shipped folder": another_file,
    "a program that was none": lambda at: (at.folder / "nginx.conf").chmod(0o755),
    "the env": other_env,
    "a commit": other_commit,
    "whose it is": other_name,
    "the salt": other_salt,
}


@pytest.mark.parametrize("change", MOVES)
def test_what_moves_the_digest(source: Source, change: str) -> None:
    before = source.digest()
    MOVES[change](source)
    assert source.digest() != before


def test_what_does_not_move_it(source: Source) -> None:
    before = source.digest()
    (source.folder / "not-shipped.txt").write_text("x")
    (source.folder / "nginx.conf").touch()
    source.playground = replace(source.playground, ttl=3600.0, hold=True)
    source.seen = replace(SEEN, checkouts={"app": GitState(head=HEAD, branch="other", changes=3)})
    assert source.digest() == before


@pytest.mark.parametrize(
    "state", [None, GitState(), GitState(error="fatal: broken")], ids=["missing", "empty", "broken"]
)
def test_without_its_checkouts_the_input_is_unknown(source: Source, state: GitState | None) -> None:
    seen = ProjectFacts("acme_east_demo", checkouts={"app": state} if state else {})
    assert gather(source.project, seen, "salt").unknown == "depends on checkout/demo/app"


def test_a_file_that_is_missing_here_is_an_error_of_that_playground(source: Source) -> None:
    (source.folder / "nginx.conf").unlink()
    found = gather(source.project, SEEN, "salt")
    assert "nginx.conf" in found.error
    assert found.values == {}


def test_a_secret_that_is_missing_here_is_an_error_of_that_playground(source: Source) -> None:
    env = {"TOKEN": SecretRef(env="MQCTL_TEST_NOT_SET")}
    source.playground = replace(source.playground, env=env)
    assert "MQCTL_TEST_NOT_SET" in gather(source.project, SEEN, "salt").error


def test_no_value_can_be_read_back_from_the_record(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MQCTL_TEST_TOKEN", "hunter2-hunter2")
    env = {"TOKEN": SecretRef(env="MQCTL_TEST_TOKEN")}
    source.playground = replace(source.playground, env=env)
    found = gather(source.project, SEEN, "salt")
    assert "hunter2" not in repr(found)
    assert found.env_file() == 'TOKEN="hunter2-hunter2"\n'
    assert gather(source.project, SEEN, "pepper").values["env"] != found.values["env"]


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ({}, True),
        ({"web.env": "1"}, False),
        ({"web.env": "2"}, True),
        ({"web.env": "1", "other": "2"}, False),
    ],
)
def test_a_referenced_file_on_the_host(now: dict[str, str], changed: bool) -> None:
    staged = Staged("b", "d", {"ref:web.env": "1"}, ("web.env",))
    assert references_changed(staged, ProjectFacts("p", hashes=now)) == changed


def test_a_referenced_file_that_was_never_there_is_no_change() -> None:
    staged = Staged("b", "d", {}, ("optional.env",))
    assert not references_changed(staged, ProjectFacts("p"))
    assert references_changed(staged, ProjectFacts("p", hashes={"optional.env": "1"}))


def test_a_change_is_told_in_words() -> None:
    before = {"env": "1", "file:compose.yaml": "1", "commit:app": HEAD, "file:gone": "1"}
    after = {"env": "2", "file:compose.yaml": "2", "commit:app": "b" * 40, "ref:web.env": "1"}
    assert describe_change(before, after) == [
        "commit of app is bbbbbbbbbbbb",
        "env",
        "compose.yaml",
        "gone",
        "web.env",
    ]
    assert describe_change(before, before) == []


def test_the_order_of_inputs_does_not_matter() -> None:
    assert digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"})
    assert digest({"a": "1", "b": "2"}) != digest({"a": "2", "b": "1"})
