"""What two looks at the same containers tell: loops, and whether an apply worked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mqctl.host.facts import Container, Inspection
from mqctl.host.record import Applied, Service
from mqctl.phases.condition import looping, suspicious
from mqctl.phases.reasons import Reason
from mqctl.phases.verify import judge

WEB = Container("1" * 64, "demo-web-1", "nginx:1", "running", "Up 1 second", service="web")
BEGAN = "2026-11-30T12:00:00Z"
WEB = replace(WEB, inspection=Inspection(BEGAN, "", 0, 0))
SERVICES = {"web": Service("nginx:1")}


def web(state: str = "running", **changes: object) -> Container:
    return replace(WEB, state=state, **changes)  # type: ignore[arg-type]  # fields of Container


def restarted(count: int = 1, started_at: str = BEGAN) -> Container:
    return web(inspection=Inspection(started_at, "", count, 1))


# --------------------------------------------------------------------------- after an apply


def test_what_runs_twice_without_a_restart_is_well() -> None:
    verdict = judge(SERVICES, [web()], [web()])
    assert (verdict.settled, verdict.reason, verdict.one_shots) == (True, None, ())


def test_what_ended_well_is_a_one_shot() -> None:
    ended = web("exited", exit_code=0)
    verdict = judge(SERVICES, [ended], [ended])
    assert (verdict.settled, verdict.reason, verdict.one_shots) == (True, None, ("web",))


@pytest.mark.parametrize(
    ("after", "reason", "settled"),
    [
        (web("exited", exit_code=1), Reason.EXITED, True),
        (web("exited", exit_code=None), Reason.EXITED, True),
        (web("restarting", exit_code=1), Reason.CRASH_LOOP, False),
        (web("dead"), Reason.CRASH_LOOP, False),
        (web("created"), Reason.NEVER_STARTED, False),
        (web("paused"), Reason.PAUSED, False),
        (web(health="unhealthy"), Reason.UNHEALTHY, False),
        (web(health="starting"), Reason.UNHEALTHY, False),
        (restarted(), Reason.CRASH_LOOP, False),
        (restarted(0, "2026-11-30T12:00:01Z"), Reason.CRASH_LOOP, False),
        (web(id="2" * 64), Reason.CRASH_LOOP, False),
    ],
)
def test_what_is_not_well_is_told_and_may_get_more_time(
    after: Container, reason: Reason, settled: bool
) -> None:
    verdict = judge(SERVICES, [web()], [after])
    assert (verdict.reason, verdict.settled, verdict.culprit) == (reason, settled, after.id)


def test_a_missing_container_may_still_come() -> None:
    verdict = judge({"web": Service("nginx:1", scale=2)}, [web()], [web()])
    assert (verdict.reason, verdict.settled) == (Reason.SERVICE_MISSING, False)
    assert verdict.detail == "web has 1 of 2 containers"


def test_a_one_off_stands_for_no_service() -> None:
    assert judge(SERVICES, [], [web(one_off=True)]).reason is Reason.SERVICE_MISSING


def test_one_bad_service_is_enough_and_no_one_shot_is_recorded() -> None:
    job = replace(WEB, id="3" * 64, service="job", state="exited", exit_code=0)
    verdict = judge({**SERVICES, "job": Service("job:1")}, [web(), job], [web("paused"), job])
    assert (verdict.reason, verdict.one_shots) == (Reason.PAUSED, ())


# --------------------------------------------------------------------------- before a decision


@pytest.mark.parametrize(
    ("before", "after", "loops"),
    [
        (web(), web(), False),
        (web(), restarted(), True),
        (restarted(3), restarted(3), False),
        (restarted(3), restarted(4), True),
        (restarted(3), web("restarting", inspection=Inspection(BEGAN, "", 3, 1)), True),
        (web(inspection=None), restarted(9), False),
        (web(), web("restarting", inspection=None), False),
    ],
)
def test_a_loop_is_a_restart_between_two_looks(
    before: Container, after: Container, loops: bool
) -> None:
    assert (after.id in looping([before], [after])) == loops


def test_what_was_not_there_before_does_not_loop_yet() -> None:
    assert looping([], [restarted(5)]) == frozenset()


def applied(at: float) -> Applied:
    return Applied("d", {}, {}, {}, (), (), 41, at)


@pytest.mark.parametrize(
    ("one", "suspect"),
    [
        (web(up_at_most=4000.0), False),
        (web(up_at_most=59.0), True),  # it was applied an hour ago: something started it since
        (web(up_at_most=180.0), False),  # so was this, but a loop would show sooner
        (web("restarting", up_at_most=None), True),
        (web("exited", up_at_most=None), False),
        (web("created", up_at_most=None), False),
    ],
)
def test_only_what_is_younger_than_its_apply_is_looked_into(one: Container, suspect: bool) -> None:
    assert suspicious([one], applied(0.0), 3600.0) == suspect


def test_right_after_an_apply_everything_is_young() -> None:
    assert not suspicious([web(up_at_most=3.0)], applied(3599.0), 3600.0)
    assert not suspicious([web(up_at_most=3.0)], None, 3600.0)
