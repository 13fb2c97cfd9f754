"""The process around the command: signals, broken pipes, crashes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.cli.conftest import Desk


def run_code(desk: Desk, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in which something was sabotaged."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=desk.folder,
        env=desk.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


SABOTAGE = """
import sys
import mqctl.config.warnings as broken
from mqctl.secret import MASK
def cautions(fleet):
    hidden = "a local variable is not in the report"
    MASK.add("hunter22")
    raise TypeError("unexpected hunter22")
broken.cautions = cautions
from mqctl.cli.main import main
sys.exit(main())
"""


def test_a_bug_leaves_a_masked_report_and_ends_with_70(offline: Desk) -> None:
    done = run_code(offline, SABOTAGE, "config", "check")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("mqctl: error: a bug in mqctl: TypeError: unexpected ***\n")
    assert "Traceback" not in done.stderr
    (report,) = (offline.state / "crashes").iterdir()
    assert str(report) in done.stderr
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert stat.S_IMODE(report.parent.stat().st_mode) == 0o700
    text = report.read_text()
    assert "arguments: 'config' 'check'" in text
    assert "TypeError: unexpected ***" in text
    assert "hunter22" not in text.replace('MASK.add("hunter22")', "")


def test_a_bug_in_json(offline: Desk) -> None:
    done = run_code(offline, SABOTAGE, "config", "check", "-o", "json")
    document = json.loads(done.stdout)
    assert document["exit_code"] == document["error"]["code"] == 70


def test_a_bug_where_nothing_can_be_written_is_still_told(offline: Desk) -> None:
    offline.environ |= {"XDG_STATE_HOME": "/proc/nowhere", "TMPDIR": "/proc/nowhere"}
    (offline.folder / "state").write_text("a file")
    done = run_code(offline, SABOTAGE, "config", "check")
    assert done.returncode == 70
    assert "mqctl: error: a bug in mqctl: TypeError" in done.stderr


@pytest.mark.parametrize("command", ["--help", "config schema", "config show", "reconcile -h"])
def test_a_reader_that_went_away_is_nothing_to_talk_about(offline: Desk, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = offline.start(
        ["-m", "mqctl", *command.split()], stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")


def test_a_full_disk_is_no_success(offline: Desk) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        process = offline.start(
            ["-m", "mqctl", "config", "schema"], stdout=full.fileno(), stderr=subprocess.PIPE
        )
        _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error.startswith(b"mqctl: error: standard output cannot be written\n")


def test_closed_streams_are_no_reason_to_crash(offline: Desk) -> None:
    command = f"{sys.executable} -m mqctl config check >&- 2>&- <&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=offline.folder, env=offline.environ, check=False, timeout=60
    )
    assert done.returncode == 0
    assert not (offline.state / "crashes").exists()


@pytest.fixture
def silent_redis(offline: Desk) -> Iterator[Desk]:
    """A Redis that takes connections and never answers, for as long as a minute."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        text = (offline.folder / "marquees.yaml").read_text()
        text = text.replace(offline.redis, url).replace("500ms", "60s").replace("30s", "10m")
        (offline.folder / "marquees.yaml").write_text(text)
        yield offline


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_signals_end_it_with_their_status(
    silent_redis: Desk, number: signal.Signals, status: int
) -> None:
    process = silent_redis.start(
        ["-m", "mqctl", "lock", "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until_connected(process)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == status
    assert (out, error) == (b"", f"mqctl: error: ended by {number.name}\n".encode())


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(silent_redis: Desk) -> None:
    code = (
        "import os, sys; os.execv(sys.executable, [sys.executable, '-m', 'mqctl', *sys.argv[1:]])"
    )
    ignoring = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); {code}"
    process = silent_redis.start(["-c", ignoring, "lock", "status"], stderr=subprocess.PIPE)
    wait_until_connected(process)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143


STUCK = """
import sys, time
from mqctl.cancel import CancelToken
from mqctl.cli.signals import Signals
token = CancelToken()
signals = Signals(token)
signals.install()
with signals.deferred():
    print("ready", flush=True)
    seen = []
    while len(seen) < 2:
        time.sleep(0.01)
        if token.cancelled and not seen:
            seen.append(print("cancelled", token.status.name, flush=True))
        if token.hurried:
            seen.append(print("hurried", flush=True))
    time.sleep(60)
"""


def test_the_second_signal_hurries_and_the_third_ends_it_at_once(offline: Desk) -> None:
    process = offline.start(["-c", STUCK], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == b"cancelled SIGTERM\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b"hurried\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    process.stdout.close()


def wait_until_connected(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has a TCP connection open."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        links = []
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                links.append(str(descriptor.readlink()))
        # Two of them are the pair that signals wake up.
        if sum(link.startswith("socket:") for link in links) > 2:
            time.sleep(0.1)
            return
        time.sleep(0.02)
    raise AssertionError("it never connected")
