"""mqctl dies in the middle of a step that goes on without it."""

from __future__ import annotations

import signal

from tests.bed import Host
from tests.support.gate import Gate
from tests.support.operators import Operator
from tests.support.witness import witness


def test_after_kill_9_the_next_cycle_says_busy_or_waits_and_never_overlaps_the_remote_command(
    operator: Operator, east: Host
) -> None:
    gate = Gate(operator, east)
    with witness(east) as compose:
        killed = operator.start("reconcile", "east-1")
        gate.wait_reached(killed)
        killed.send(signal.SIGKILL)
        assert killed.wait().code == -signal.SIGKILL
        assert compose.unfinished() == 1

        held = operator.reconcile()
        assert (held.code, held.outcome()) == (75, "held"), held
        token = operator.bed.redis.cli("GET", operator.key("lock"))
        broken = operator.run("lock", "break", "east-1", "--yes", "--token", token[:8])
        assert broken.code == 0, broken  # no --force: its holder is proven dead
        assert broken.document["host"] == "busy"

        operator.declared["policy"]["command_timeout"] = "2s"
        busy = operator.reconcile()
        assert (busy.code, busy.outcome()) == (75, "held"), busy
        assert busy.cycle()["reason"] == "host-busy"
        assert compose.unfinished() == 1

        operator.declared["policy"]["command_timeout"] = "60s"
        patient = operator.start("reconcile", "east-1")
        patient.wait_for("host.busy")
        gate.open()
        ended = patient.wait()
        assert (ended.code, ended.outcome()) == (0, "changed"), ended
        assert ended.fate("playground/slow") == ("recover", "interrupted", "done")
        assert compose.unfinished() == 0
        assert not compose.overlaps()
