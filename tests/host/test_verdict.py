"""The guard's answers, and everything that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.host.completed import Completed
from mqctl.host.guard import quote
from mqctl.host.guard.verdict import Garbled, Sample, read

N = "0123456789abcdef"
BOOT = "8a4f9348-576a-43dc-91f2-a9b6a7b1c77d"


def line(words: str, nonce: str = N) -> bytes:
    return f"\n@{nonce} {BOOT} 4711 {words}\n".encode()


def raw(stdout: bytes, stderr: bytes = b"") -> Completed:
    return Completed(stdout, stderr, 0)


def test_a_verdict_brings_the_hosts_boot_and_uptime() -> None:
    answer = read(N, raw(line("stale 42")))
    assert (answer.word, answer.number(), answer.sample) == ("stale", 42, Sample(BOOT, 4711))


@pytest.mark.parametrize(
    "noise", [b"", b"welcome\n", b"no newline", b"\xff\x00\n@", line("stale 1", "f" * 16)]
)
def test_noise_around_an_answer_does_not_matter(noise: bytes) -> None:
    answer = read(N, raw(noise + line("begin") + b"out" + line("end exited 0") + noise))
    assert answer.output == Completed(b"out", b"", 0)


@pytest.mark.parametrize(
    "output", [b"", b"\n", b"a\n", b"\n\n@", b"\x00\xff\xfe", b"@" + N.encode()]
)
def test_an_output_comes_back_to_the_byte(output: bytes) -> None:
    err = f"motd\n\n@{N} begin\n".encode() + output + f"\n@{N} end\n".encode() + b"logout"
    answer = read(N, raw(line("begin") + output + line("end exited 3"), err))
    assert answer.output == Completed(output, output, 3)


@pytest.mark.parametrize(
    ("outcome", "status", "timed_out"),
    [
        ("exited 124", 124, False),
        ("exited 78", 78, False),
        ("timed-out", 124, True),
        ("killed", 137, False),
    ],
)
def test_a_status_is_not_a_time_out(outcome: str, status: int, timed_out: bool) -> None:
    output = read(N, raw(line("begin") + line(f"end {outcome}"))).output
    assert output == Completed(b"", b"", status, timed_out=timed_out)


def test_a_granted_raise_brings_the_read_that_followed() -> None:
    answer = read(N, raw(line("raised") + line("begin") + b"facts" + line("end exited 0")))
    assert answer.word == "raised"
    assert answer.output == Completed(b"facts", b"", 0)


@pytest.mark.parametrize(
    "stdout",
    [
        b"",
        b"sh: not found\n",
        line("stale 1", "f" * 16),
        line("begin"),
        line("begin") + b"half of it",
        line("end exited 0"),
        line("raised") + line("begin"),
        line("stale 1") + line("stale 1"),
        line("begin") + line("end exited 0") + line("end exited 0"),
        line("begin") + line("end exited"),
        line("begin") + line("end exited -1"),
        line("begin") + line("end exited 99999"),
        line("begin") + line("stored"),
        line("perhaps"),
        line("stale 1").rstrip(b"\n"),
        line("stale 1").replace(b"4711", b"-1"),
        line("stale 1").replace(b"\n@", b"x@"),
        line("stale 1").replace(b" ", b"  "),
    ],
)
def test_what_the_guard_does_not_write_is_garbled(stdout: bytes) -> None:
    with pytest.raises(Garbled):
        read(N, raw(stdout))


def test_a_number_that_is_none_is_garbled() -> None:
    for rest in ("", " much", " -1", " 1.5"):
        with pytest.raises(Garbled):
            read(N, raw(line("stale" + rest))).number()


@given(st.binary(max_size=300))
def test_no_bytes_make_it_crash(noise: bytes) -> None:
    with pytest.raises(Garbled):
        read(N, raw(noise.replace(N.encode(), b"")))


@given(st.binary(max_size=200), st.integers(0, 400))
def test_a_cut_answer_is_never_believed(output: bytes, cut: int) -> None:
    whole = line("begin") + output.replace(N.encode(), b"") + line("end exited 0")
    if cut < len(whole):
        with pytest.raises(Garbled):
            read(N, raw(whole[:cut]))


def test_quoting_is_the_same_in_posix_shells_and_in_fish() -> None:
    assert quote("it's") == "'it'\"'\"'s'"
    assert quote("a\\'b") == "'a'\"\\\\'\"'b'"
    with pytest.raises(ValueError, match="NUL"):
        quote("\0")
