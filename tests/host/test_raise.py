"""*raise*: one directory, one number that only grows, and four reasons to say no."""

from __future__ import annotations

import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mqctl.host.guard import Fence, NotAfter
from tests.host.support import Site, eventually, held


def test_the_first_raise_makes_the_directory_with_its_fence(site: Site) -> None:
    assert site.raise_(7).word == "raised"
    inode = site.directory.stat().st_ino
    fence = (site.directory / "fence").read_text()
    assert fence == f"mqctl-fence 1 7 one redis-a 60000 open {inode} .\n"
    assert site.directory.stat().st_mode & 0o777 == 0o700
    assert sorted(one.name for one in site.directory.parent.iterdir()) == ["east"]


def test_a_raise_can_be_said_again(site: Site) -> None:
    assert [site.raise_(7).word for _ in range(2)] == ["raised", "raised"]


def test_the_number_only_grows_and_the_token_breaks_ties(site: Site) -> None:
    site.raise_(7)
    assert (site.raise_(6).word, site.raise_(7, "two").word) == ("stale", "stale")
    assert site.raise_(6).number() == 7
    assert site.raise_(10, "two").word == "raised"
    assert site.raise_(9, "three").number() == 10


def test_numbers_are_compared_as_numbers_however_long(site: Site) -> None:
    site.raise_(99_999_999_999_999_999)
    assert site.raise_(100_000_000_000_000_000, "two").word == "raised"
    assert site.raise_(99_999_999_999_999_999).number() == 100_000_000_000_000_000
    assert site.raise_(10**18, "three").word == "broken"


def test_a_closed_fence_stays_closed(site: Site) -> None:
    site.raise_(7)
    assert site.close(7).word == "shut"
    assert site.raise_(7).word == "closed"
    assert site.close(7).word == "closed"
    assert site.raise_(8).word == "raised"


def test_a_break_closes_under_its_own_number(site: Site) -> None:
    site.raise_(7)
    broken = site.fence(8, "breaker")
    assert [site.ask(site.build.raise_(broken, closed=True)).word for _ in range(2)] == [
        "raised"
    ] * 2
    assert site.run(7, "true").number() == 8
    assert site.run(8, "true", token="breaker").word == "closed"
    assert site.raise_(8, "breaker").word == "closed"
    assert site.raise_(9, "next").word == "raised"


def test_the_read_that_follows_has_given_the_flock_back(site: Site) -> None:
    call = site.build.raise_then(
        site.fence(7), 'flock -n . echo free; pwd; echo "$MQCTL_DIR" "$@"; cat', ["a b"], limit=5
    )
    answer = site.ask(call, b"input")
    assert answer.output is not None
    assert answer.output.text == f"free\n{site.directory}\n{site.directory} a b\ninput"


@pytest.mark.parametrize(
    "fence",
    [
        "",
        "\n",
        "garbage\n",
        "mqctl-fence 1 7 one redis-a 60000 open INODE .",
        "mqctl-fence 1 7 one redis-a 60000 open INODE\n",
        "mqctl-fence 1 007 one redis-a 60000 open INODE .\n",
        "mqctl-fence 1 -7 one redis-a 60000 open INODE .\n",
        "mqctl-fence 1 9999999999999999999 one redis-a 60000 open INODE .\n",
        "mqctl-fence 1 7 one redis-a 60000 ajar INODE .\n",
        "mqctl-fence 1 7 one redis-a 60000 open INODE . more\n",
        "mqctl-fence 1 7 o$(id)ne redis-a 60000 open INODE .\n",
        "mqctl-fence x 7 one redis-a 60000 open INODE .\n",
    ],
)
def test_a_fence_that_cannot_be_read_refuses_everything(plain: Site, fence: str) -> None:
    plain.raise_(7)
    plain.write("fence", fence.replace("INODE", str(plain.directory.stat().st_ino)))
    assert plain.raise_(8).word == "broken"
    assert plain.run(7, "touch ran").word == "broken"
    assert plain.close(7).word == "broken"
    assert not plain.has("ran")


def test_a_missing_fence_is_no_empty_place(site: Site) -> None:
    site.raise_(7)
    (site.directory / "fence").unlink()
    assert site.raise_(8).word == "broken"


def test_a_newer_format_refuses_older_clients(site: Site) -> None:
    site.raise_(7)
    site.write("fence", "mqctl-fence 2 what ever it may hold\n")
    assert (site.raise_(8).word, site.run(7, "true").word) == ("newer", "newer")


def test_a_copied_directory_is_not_the_one_that_was_fenced(site: Site) -> None:
    site.raise_(7)
    away = site.directory.with_name("away")
    site.directory.rename(away)
    shutil.copytree(away, site.directory)
    assert site.raise_(8).word == "broken"
    assert site.run(7, "touch ran").word == "broken"


def test_a_directory_swapped_while_a_command_waits_is_noticed(site: Site) -> None:
    site.raise_(7)
    with ThreadPoolExecutor() as pool:
        with held(site.directory):
            waiting = pool.submit(site.run, 7, "touch ran")
            time.sleep(0.4)
            site.directory.rename(site.directory.with_name("away"))
        assert waiting.result().word == "broken"


def test_two_raisers_race_and_one_number_wins(plain: Site) -> None:
    with ThreadPoolExecutor(4) as pool:
        for number in range(1, 51):
            tokens = [f"t{number}-{index}" for index in range(2)]
            answers = list(pool.map(lambda token, n=number: plain.raise_(n, token), tokens))
            words = sorted(answer.word for answer in answers)
            assert words in (["raised", "stale"], ["busy", "raised"]), (number, words)


def test_the_first_raisers_race_for_the_directory(tmp_path: Path) -> None:
    for index in range(10):
        site = Site(tmp_path / f"root-{index}")
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda n, s=site: s.raise_(n, f"t{n}"), [1, 2, 3]))
        words = [answer.word for answer in answers]
        assert set(words) <= {"raised", "stale", "busy"}
        assert "raised" in words
        assert [one.name for one in site.directory.parent.iterdir()] == ["east"]


def test_another_redis_waits_for_one_quiet_ttl(plain: Site) -> None:
    plain.ttl = 3.0
    plain.raise_(7)
    answer = plain.raise_(1, "other", "redis-b")
    assert (answer.word, answer.number()) == ("held", 3)
    time.sleep(1.7)
    plain.run(7, "true")
    time.sleep(1.7)
    assert plain.raise_(1, "other", "redis-b").word == "held"
    time.sleep(1.7)
    assert plain.raise_(1, "other", "redis-b").number() == 7
    assert plain.raise_(8, "other", "redis-b").word == "raised"


def test_a_closed_fence_or_a_reboot_needs_no_quiet(plain: Site) -> None:
    plain.raise_(7)
    plain.close(7)
    assert plain.raise_(8, "other", "redis-b").word == "raised"
    plain.write("last", "another-boot 999999999\n")
    assert plain.raise_(9, "third", "redis-c").word == "raised"


def test_an_unreadable_last_counts_as_now(plain: Site) -> None:
    plain.raise_(7)
    plain.write("last", "")
    assert plain.raise_(8, "other", "redis-b").word == "held"
    assert plain.has("last")


def test_a_killed_clients_command_goes_on_and_keeps_the_next_raise_out(site: Site) -> None:
    site.raise_(7)
    client = site.start(site.run_call(7, "touch began; sleep 1.5; touch done"))
    eventually(lambda: site.has("began"), "the command runs")
    pid, _, _, _, _, _, name = site.marker()
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    answer = site.raise_(8, "two")
    assert answer.word == "busy"
    assert answer.rest.split()[0] == pid
    assert answer.rest.split()[2] == name == "a_test"
    eventually(lambda: site.has("done"), "the command ended by itself")
    eventually(lambda: site.raise_(8, "two").word != "busy", "the flock is free")
    # It ended well, but nobody saw it.
    answer = site.raise_(8, "two")
    assert answer.word == "settling"
    assert 10 < answer.number() <= 15


@pytest.mark.parametrize(("grace", "seconds"), [(None, 15), ("3", 8), ("500", 60), ("x", 60)])
def test_settling_lasts_as_long_as_the_largest_stop_grace(
    plain: Site, grace: str | None, seconds: int
) -> None:
    plain.raise_(7)
    if grace is not None:
        plain.write("stop-grace", f"{grace}\n")
    plain.write("running", f"4711 1 7 one {plain.soon().boot} 1 a-test\n")
    first = plain.raise_(8).number()
    time.sleep(1.1)
    assert seconds - 1 <= first <= seconds
    assert plain.raise_(8).number() <= first - 1


def test_a_reboot_settles_everything(plain: Site) -> None:
    plain.raise_(7)
    plain.write("running", "4711 1 7 one another-boot 1 a-test\n")
    plain.write("settling", "another-boot 99999999999\n")
    assert plain.raise_(8).word == "raised"
    assert not plain.has("running")
    assert not plain.has("settling")


def test_garbage_in_the_marker_settles_too(plain: Site) -> None:
    plain.raise_(7)
    plain.write("running", "garbage")
    assert plain.raise_(8).word == "settling"


def test_a_raise_removes_what_older_fences_left(site: Site) -> None:
    site.raise_(7)
    for name in ("in.7.x", "cred.7.y", "stop.7.z", "in.8.keep", "kept"):
        (site.directory / ".trash" / name).mkdir()
    beside = site.directory.with_name(".new.east.dead")
    beside.mkdir()
    site.raise_(8, "two")
    assert sorted(one.name for one in (site.directory / ".trash").iterdir()) == [
        "in.8.keep",
        "kept",
    ]
    assert not beside.exists()


def test_a_raise_delivered_late_changes_nothing(site: Site) -> None:
    late = site.build.raise_then(Fence(7, "one", "redis-a", 60), "echo facts", [], limit=5)
    site.raise_(7)
    site.close(7)
    assert site.ask(late).word == "closed"
    site.raise_(8, "two")
    assert site.ask(late).number() == 8
    assert site.run(8, "true", token="two").word == "end"


def test_not_after_is_never_negative(plain: Site) -> None:
    assert NotAfter.after(plain.ask(plain.build.look("true", [], limit=1)).sample, -1e9).uptime == 0
