"""Asking a person, and only a person: a question needs a terminal to be read and answered at."""

from __future__ import annotations

import sys
import termios
from contextlib import suppress

from mqctl.cli.session import Session
from mqctl.report.text import plain


def can_ask(session: Session) -> bool:
    """Whether there is a terminal to ask at: the question goes to standard error."""
    return sys.stdin is not None and sys.stdin.isatty() and session.streams.err.isatty()


def ask(session: Session, question: str, expected: str) -> bool:
    """Ask, and tell whether exactly ``expected`` was typed. The end of input means no.

    What was typed ahead is thrown away: it was no answer to what is shown now.
    """
    with suppress(termios.error, OSError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    session.streams.err.write(plain(question) + " ")
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        session.streams.err.line()
    return answer.strip() == expected
