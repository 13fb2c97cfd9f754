"""*run*: check and command are one critical section."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mqctl.host.completed import Completed
from mqctl.host.guard import NotAfter
from tests.host.support import Site, eventually, held, path_with


def done(site: Site, script: str, *args: str, stdin: bytes = b"", limit: float = 20.0) -> Completed:
    answer = site.run(7, script, *args, stdin=stdin, limit=limit)
    assert answer.output is not None, answer
    return answer.output


def test_a_command_runs_in_its_marquee_with_its_arguments_and_input(site: Site) -> None:
    site.raise_(7)
    output = done(
        site,
        'pwd; echo "$MQCTL_DIR $MQCTL_FENCE $#"; printf "<%s>" "$@"; cat; umask; echo err >&2',
        "a b",
        "it's $HOME `id` \\n\n",
        "",
        stdin="täxt\n\n".encode(),
    )
    here = str(site.directory)
    expected = f"{here}\n{here} 7 3\n<a b><it's $HOME `id` \\n\n><>täxt\n\n0077\n"
    assert output == Completed(expected.encode(), b"err\n", 0)
    assert not site.has("running")


def test_every_status_is_the_commands_own(site: Site) -> None:
    site.raise_(7)
    for status in (0, 1, 77, 78, 124, 125, 127):
        assert done(site, f"exit {status}") == Completed(b"", b"", status)
    assert site.run(7, "true").word == "end"  # a clean end settles at once


def test_without_input_a_command_reads_nothing(site: Site) -> None:
    site.raise_(7)
    assert done(site, "cat; echo end").stdout == b"end\n"


def test_a_large_input_arrives_whole_or_not_at_all(site: Site) -> None:
    site.raise_(7)
    text = (b"0123456789abcde\n" * 65536)[: 1024 * 1024]
    assert done(site, "wc -c", stdin=text).stdout.split() == [b"1048576"]
    assert done(site, "true", stdin=text).status == 0
    call = site.run_call(7, "touch ran", size=len(text))
    assert site.ask(call, text[:-1]).word == "truncated"
    assert site.ask(site.run_call(7, "touch ran", size=3), b"abcd").word == "truncated"
    assert site.ask(site.run_call(7, "touch ran", size=3), b"a\0b").word == "truncated"
    assert not site.has("ran")


def test_input_and_script_are_in_no_file(site: Site) -> None:
    site.raise_(7)
    output = done(
        site, 'read -r secret; grep -rl "$secret" "$MQCTL_DIR" || echo none', stdin=b"s3cr3t\n"
    )
    assert output.stdout == b"none\n"


def test_only_the_exact_fence_passes(site: Site) -> None:
    site.raise_(7)
    for number, token in ((6, "one"), (8, "one"), (7, "two")):
        assert site.run(number, "touch ran", token=token).word == "stale"
    assert not site.has("ran")
    assert site.run(7, "touch ran").word == "end"


def test_nothing_runs_without_a_directory(site: Site) -> None:
    assert site.run(7, "true").word == "broken"
    assert not site.directory.exists()


def test_late_is_late_by_the_hosts_own_uptime(site: Site) -> None:
    site.raise_(7)
    assert site.run(7, "touch ran", not_after=site.soon(-0.01)).word == "late"
    assert site.run(7, "touch ran", not_after=site.soon(0)).word == "late"
    other_boot = NotAfter("another-boot", site.soon(1000).uptime)
    assert site.run(7, "touch ran", not_after=other_boot).word == "late"
    assert not site.has("ran")


def test_a_command_that_had_to_wait_too_long_is_late(site: Site) -> None:
    site.raise_(7)
    with held(site.directory):
        began = time.monotonic()
        assert site.run(7, "touch ran", not_after=site.soon(0.5)).word == "late"
        assert time.monotonic() - began < 10
    assert not site.has("ran")


def test_the_limit_ends_a_command_and_all_its_children(site: Site) -> None:
    site.raise_(7)
    began = time.monotonic()
    output = done(site, "echo first; (sleep 60; touch late) & sleep 60; touch late", limit=1.0)
    assert output == Completed(b"first\n", b"", 124, timed_out=True)
    assert time.monotonic() - began < 10
    assert site.raise_(8).word == "settling"


def test_the_limit_is_cut_to_not_after(site: Site) -> None:
    site.raise_(7)
    began = time.monotonic()
    answer = site.run(7, "sleep 60", limit=50, not_after=site.soon(2.0))
    assert answer.output is not None
    assert answer.output.timed_out
    assert time.monotonic() - began < 10


def test_a_child_that_ignores_term_is_killed(site: Site) -> None:
    site.ttl = 2.0  # a kill grace of 0.2 s
    site.raise_(7)
    began = time.monotonic()
    script = 'trap "" TERM; (while :; do sleep 1; done) & wait; sleep 60'
    assert done(site, script, limit=0.7).timed_out
    assert time.monotonic() - began < 10
    eventually(lambda: site.raise_(8).word == "settling", "the flock is free")


def test_a_command_killed_by_a_signal_settles(site: Site) -> None:
    site.raise_(7)
    assert done(site, "kill -9 $$").status == 137
    assert site.raise_(8).word == "settling"
    assert site.run(7, "true").word == "settling"


def test_the_flock_is_the_commands_and_its_childrens(site: Site) -> None:
    site.raise_(7)
    assert (
        done(site, "flock -n . true || echo taken; (flock -n . true || echo taken)").text
        == "taken\ntaken\n"
    )


def test_one_command_at_a_time(site: Site) -> None:
    site.raise_(7)
    script = "mkdir alone || exit 1; sleep 0.15; rmdir alone"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: site.run(7, script), range(4)))
    assert [answer.rest for answer in answers] == ["exited 0"] * 4


def test_a_guard_that_was_frozen_keeps_the_flock(tmp_path: Path) -> None:
    # This `timeout` stops itself exactly between the guard's last check and the command.
    site = Site(tmp_path / "root", path=path_with(tmp_path / "bin"))
    real = subprocess.run(["which", "timeout"], check=True, capture_output=True, text=True).stdout
    freezing = tmp_path / "bin" / "timeout"
    freezing.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || kill -STOP $$\nexec {real.strip()} "$@"\n'
    )
    freezing.chmod(0o755)
    site.raise_(7)
    client = site.start(site.run_call(7, "touch ran"))
    eventually(lambda: site.has("running"), "the marker is there")
    pid = int(site.marker()[0])
    eventually(lambda: "T (stopped)" in Path(f"/proc/{pid}/status").read_text(), "it is frozen")
    assert site.raise_(8, "two").word == "busy"
    assert not site.has("ran")
    os.kill(pid, signal.SIGCONT)
    client.wait()
    assert site.has("ran")
    assert site.raise_(8, "two").word == "raised"
    assert site.run(7, "true").word == "stale"


def test_a_client_that_is_gone_before_the_start_starts_nothing(site: Site) -> None:
    site.raise_(7)
    with held(site.directory):
        client = site.start(site.run_call(7, "touch ran"))
        time.sleep(0.2)
        assert client.stdout is not None
        client.stdout.close()
    client.wait()
    assert not site.has("ran")
    assert site.raise_(8).word == "raised"


def test_a_child_that_escaped_is_busy_without_a_name(plain: Site) -> None:
    plain.raise_(7)
    done(plain, "setsid sleep 3 </dev/null >/dev/null 2>&1 & sleep 0.1")
    answer = plain.raise_(8)
    assert (answer.word, answer.rest) == ("busy", "0 0 unknown")


def test_large_outputs_are_quick(site: Site) -> None:
    site.raise_(7)
    began = time.monotonic()
    output = done(site, "head -c 16777216 /dev/zero; head -c 16777216 /dev/zero >&2")
    assert (len(output.stdout), len(output.stderr)) == (16777216, 16777216)
    assert time.monotonic() - began < 10


def test_a_read_needs_no_fence(site: Site) -> None:
    script = 'pwd; echo "$MQCTL_DIR $GIT_OPTIONAL_LOCKS $1"; cat; exit 3'
    answer = site.ask(site.build.look(script, ["x y"], limit=5), b"input")
    assert answer.output == Completed(f"/\n{site.directory} 0 x y\ninput".encode(), b"", 3)
    site.raise_(7)
    answer = site.ask(site.build.look("pwd", [], limit=5))
    assert answer.output == Completed(f"{site.directory}\n".encode(), b"", 0)


def test_a_read_that_hangs_is_ended(site: Site) -> None:
    began = time.monotonic()
    answer = site.ask(site.build.look("echo a; sleep 60", [], limit=1))
    assert answer.output == Completed(b"a\n", b"", 124, timed_out=True)
    assert time.monotonic() - began < 10
