"""*stop*: ends what is ours, wherever it is, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from mqctl.host.guard import Call
from tests.host.support import ONE, Site, eventually


def stop(site: Site, number: int, victim: Call, *, token: str = ONE, grace: float = 2.0) -> str:
    return site.ask(site.build.stop(site.fence(number, token), victim, grace=grace)).word


def alive(file: Path) -> bool:
    """Whether the process whose id is in the file lives; a zombie does not."""
    try:
        status = Path(f"/proc/{file.read_text().strip()}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status


def begin(site: Site, script: str) -> Call:
    call = site.run_call(7, f"{script}\n:")
    client = site.start(call)
    eventually(lambda: site.has("began"), "the command runs")
    assert client.poll() is None
    return call


def test_stop_ends_the_command_and_its_grandchildren(site: Site) -> None:
    site.raise_(7)
    call = begin(site, '(sh -c "echo \\$\\$ >grandchild; sleep 60; :") & touch began; sleep 60')
    eventually(lambda: site.has("grandchild"), "the grandchild runs")
    assert stop(site, 7, call) == "stopped"
    assert not alive(site.directory / "grandchild")
    eventually(lambda: site.raise_(8).word == "settling", "nothing holds the flock")


def test_stop_kills_what_ignores_term(site: Site) -> None:
    site.raise_(7)
    call = begin(site, 'trap "" TERM; echo $$ >began; while :; do sleep 0.1; done')
    started = time.monotonic()
    assert stop(site, 7, call, grace=0.3) == "stopped"
    assert 0.25 < time.monotonic() - started < 10
    assert not alive(site.directory / "began")


def test_a_script_may_clean_up_on_term(site: Site) -> None:
    site.raise_(7)
    call = begin(site, 'trap "touch cleaned; exit 1" TERM; touch began; sleep 60 & wait')
    assert stop(site, 7, call) == "stopped"
    assert site.has("cleaned")


def test_stop_is_only_for_the_owner(site: Site) -> None:
    site.raise_(7)
    call = begin(site, "echo $$ >began; sleep 60")
    assert stop(site, 8, call) == "idle"
    assert stop(site, 7, call, token="two") == "idle"
    assert alive(site.directory / "began")
    assert stop(site, 7, call) == "stopped"


def test_stop_does_not_touch_a_process_that_only_has_the_number(site: Site) -> None:
    site.raise_(7)
    call = begin(site, "echo $$ >began; sleep 60")
    words = site.marker()
    site.write("running", " ".join([words[0], "12345", *words[2:]]) + "\n")
    assert stop(site, 7, call) == "idle"
    assert alive(site.directory / "began")
    os.killpg(int(words[0]), signal.SIGKILL)


def test_a_command_that_was_stopped_before_it_came_never_starts(site: Site) -> None:
    site.raise_(7)
    call = site.run_call(7, "touch ran")
    assert stop(site, 7, call) == "idle"
    assert site.ask(call).word == "revoked"
    assert not site.has("ran")
    assert site.run(7, "touch ran").word == "end"


def test_stop_after_the_loss_of_the_lock(site: Site) -> None:
    site.raise_(7)
    call = begin(site, "touch began; sleep 60")
    assert site.raise_(8, "two").word == "busy"
    assert stop(site, 7, call) == "stopped"
    eventually(lambda: site.raise_(8, "two").word == "settling", "the next one comes closer")


def test_stop_of_nothing(site: Site) -> None:
    call = site.run_call(7, "true")
    assert stop(site, 7, call) == "idle"
    assert not site.directory.exists()
