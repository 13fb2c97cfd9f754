"""Random histories and working trees against every act that moves or removes a checkout."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.work.checkout import Site
from tests.work.deeds import DEEDS, nothing

STATES = int(os.environ.get("MQCTL_WORK_STATES", "100"))
SEED = int(os.environ.get("MQCTL_SEED", "20261130"))
# Deeds after which a checkout holds nothing that a remote does not have.
HARMLESS = {"nothing", "add_ignored"}


def play(folder: Path, seed: int) -> tuple[Site, list[str]]:
    """Make a site and let people work in it; the deeds by name."""
    random = Random(seed)  # noqa: S311 - a replayable test
    site = Site(folder, random)
    for _ in range(random.randint(0, 3)):
        deed = random.choice(DEEDS)
        deed(site)
        site.deeds.append(deed.__name__)
    for change in random.sample([site.remote_commit, site.remote_force], random.randint(0, 2)):
        change()
    return site, site.deeds


@pytest.mark.parametrize("number", range(STATES))
def test_no_byte_of_work_is_ever_lost(tmp_path: Path, number: int) -> None:
    site, deeds = play(tmp_path, SEED + number)
    told = f"seed {SEED + number}: {deeds}"
    acts = [lambda: site.advance("main"), lambda: site.advance("feature"), site.remove]
    site.random.shuffle(acts)
    for act in acts:
        before = site.lost(and_ignored=True)
        answer = act()
        removed = not site.app.exists()
        lost = set(site.lost(and_ignored=not removed)) - set(before)
        assert not lost, f"{told}; {answer}; lost: {lost}"


@pytest.mark.parametrize("number", range(0, STATES, 10))
def test_the_observation_and_the_guarded_scripts_agree_about_dirt(
    tmp_path: Path, number: int
) -> None:
    site, deeds = play(tmp_path, SEED + number)
    dirty = site.dirty()
    if set(deeds) <= HARMLESS:
        assert not dirty, f"seed {SEED + number}: {deeds}"
    answer = site.remove()
    assert ("veto dirty" in answer) == dirty, f"seed {SEED + number}: {deeds}; {answer}"
    assert site.app.exists() == dirty


@pytest.mark.parametrize("deed", [one for one in DEEDS if one.__name__ not in HARMLESS])
def test_each_deed_makes_a_checkout_dirty(tmp_path: Path, deed: object) -> None:
    assert callable(deed)
    site = Site(tmp_path, Random(1))  # noqa: S311 - a replayable test
    (site.app / "file0.txt").touch()
    deed(site)
    assert site.dirty()
    assert "veto dirty" in site.remove()
    assert "veto dirty" in site.advance("main")


def test_a_checkout_in_which_nobody_worked_follows_a_force_push(tmp_path: Path) -> None:
    site = Site(tmp_path, Random(2))  # noqa: S311 - a replayable test
    nothing(site)
    site.remote_commit()
    assert "moved fast-forward" in site.advance("main")
    site.remote_force()
    assert "moved reset" in site.advance("main")
    assert "moved switch" in site.advance("feature")
    assert "moved none" in site.advance("feature")
    assert not site.dirty()
