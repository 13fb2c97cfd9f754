"""SSH when it breaks, freezes or is left: what the host does, and what the next cycle sees."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import Cancelled, LockLost
from mqctl.host import transport
from mqctl.host.gateway import Busy, Gateway, Raised, Settling
from mqctl.host.transport import Transport, TransportBroken
from mqctl.model import Marquee
from tests.host.support import QUICK, Lease, Sshd, connected, eventually, gateway, running

pytestmark = pytest.mark.usefixtures("home")


def fenced(way: Transport, marquee: Marquee) -> Gateway:
    gate = gateway(way, marquee, Lease())
    assert isinstance(gate.raise_fence(7, "one", "redis-a", 60.0, "echo 0 >stop-grace"), Raised)
    return gate


def test_a_cut_connection_stops_the_command_and_settles(sshd: Sshd, tmp_path: Path) -> None:
    marquee = sshd.marquee(tmp_path / "root", policy=QUICK)
    directory = tmp_path / "root/acme/east"
    with connected(marquee) as way:
        gate = fenced(way, marquee)

        def cut() -> None:
            eventually((directory / "began").exists, "the command runs")
            for pid in sshd.sessions():
                os.kill(pid, signal.SIGKILL)

        cutter = threading.Thread(target=cut)
        cutter.start()
        with pytest.raises(TransportBroken):
            gate.mutate("touch began; sleep 60; touch late", limit=30, step="x")
        cutter.join()
        assert way.connections == 2
        assert gate.read("cat running settling 2>/dev/null").stdout == b""  # it was waited for
        assert gate.mutate("echo on", limit=5, step="y").text == "on\n"


def test_a_client_killed_while_its_command_runs(sshd: Sshd, tmp_path: Path) -> None:
    marquee = sshd.marquee(tmp_path / "root")
    directory = tmp_path / "root/acme/east"
    with connected(marquee) as way:
        gate = fenced(way, marquee)

        def work() -> None:
            with pytest.raises((TransportBroken, LockLost)):
                gate.mutate("touch began; sleep 1.5; touch done", limit=30, step="up")

        worker = threading.Thread(target=work)
        lost = LockLost("for the test")
        worker.start()
        eventually((directory / "began").exists, "the command runs")
        gate.poison(lost)
        for pid in sshd.sessions():
            os.kill(pid, signal.SIGKILL)
        with connected(marquee) as other_way:
            other = gateway(other_way, marquee, Lease())
            verdict = other.raise_fence(8, "two", "redis-a", 60.0, "true")
            assert isinstance(verdict, Busy | Settling)
        worker.join(20)
        assert not worker.is_alive()


def test_cancelling_a_command_ends_it_on_the_host(sshd: Sshd, tmp_path: Path) -> None:
    marquee = sshd.marquee(tmp_path / "root")
    directory = tmp_path / "root/acme/east"
    cancel = CancelToken()
    with connected(marquee, cancel) as way:
        gate = gateway(way, marquee, Lease(), cancel=cancel)
        gate.raise_fence(7, "one", "redis-a", 60.0, "true")

        def interrupt() -> None:
            eventually((directory / "pid").exists, "the command runs")
            cancel.cancel()

        threading.Thread(target=interrupt).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            gate.mutate("echo $$ >pid; sleep 60; :", limit=30, step="x")
        assert time.monotonic() - began < 10
        pid = (directory / "pid").read_text().strip()
        status = Path(f"/proc/{pid}/status")
        eventually(lambda: not status.exists() or "State:\tZ" in status.read_text(), "it is gone")
        assert gate.close_fence()


def test_a_hung_step_loses_its_lease(sshd: Sshd, tmp_path: Path) -> None:
    # The server freezes: nothing comes back, nothing breaks, and the lease runs out.
    marquee = sshd.marquee(tmp_path / "root", policy=QUICK)
    server = Sshd(tmp_path / "server", tmp_path / "there")
    with running(server):
        marquee = server.marquee(tmp_path / "root", policy=type(QUICK)(connect_timeout=1.0))
        lease = Lease(1.0)
        with connected(marquee) as way:
            gate = gateway(way, marquee, lease)
            gate.raise_fence(7, "one", "redis-a", 2.0, "true")

            def freeze() -> None:
                eventually((tmp_path / "root/acme/east/began").exists, "the command runs")
                lease.ends = LockLost("over")
                for pid in server.sessions():
                    os.kill(pid, signal.SIGSTOP)

            threading.Thread(target=freeze).start()
            with pytest.raises(LockLost):
                gate.mutate("touch began; sleep 0.3", limit=0.5, step="x")
            assert lease.wanted == [0.5, 0.0]  # none while it hung
            for pid in server.sessions():
                os.kill(pid, signal.SIGCONT)


def test_closing_is_bounded_and_may_be_said_twice(sshd: Sshd) -> None:
    way = transport.connect(sshd.marquee(), clock=Clock(), cancel=CancelToken())
    began = time.monotonic()
    way.close()
    way.close()
    assert time.monotonic() - began < 10
