"""Streams that break."""

from __future__ import annotations

import errno
import io
import os

from mqctl.report.streams import Channel, Streams
from mqctl.secret import MASK


def test_everything_written_is_masked() -> None:
    out = io.StringIO()
    MASK.add("hunter22")
    Channel(out).line("the password is hunter22")
    assert out.getvalue() == "the password is ***\n"


def test_a_reader_that_went_away_is_no_failure() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        channel = Channel(stream)
        os.close(reader)
        channel.line("nobody hears this")
        channel.line("nor this")
        assert channel.failure is None
        assert not channel.isatty()


def test_a_full_disk_is_one() -> None:
    with open("/dev/full", "w", encoding="utf-8") as stream:  # noqa: PTH123 - a device
        channel = Channel(stream)
        channel.line("too much")
        assert channel.failure is not None
        assert channel.failure.errno == errno.ENOSPC


def test_what_the_locale_cannot_encode_is_escaped() -> None:
    raw = io.BytesIO()
    channel = Channel(io.TextIOWrapper(raw, encoding="ascii"))
    channel.line("ünï ⏎")
    assert raw.getvalue() == b"\\xfcn\\xef \\u23ce\n"
    assert not channel.can_encode("━")
    assert channel.can_encode("-")


def test_a_stream_that_was_closed_before_the_start_swallows_everything() -> None:
    streams = Streams(None, None)
    streams.out.line("x")
    assert streams.out.failure is None
    assert not streams.out.isatty()
    assert streams.out.mode is None
