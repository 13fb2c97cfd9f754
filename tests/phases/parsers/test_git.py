"""What ``lib_git.sh`` says of a checkout, read back; clean is only what says so in full."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.host.facts import GitState
from mqctl.host.git import Tips, parse_states, parse_tips

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
