"""``mqctl lock status`` and ``mqctl lock break``."""

from __future__ import annotations

import getpass
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mqctl.cli import names, options
from mqctl.cli.closing import HostTold, close_host
from mqctl.cli.layout import add, epilog, group
from mqctl.cli.questions import ask, can_ask
from mqctl.cli.session import Common, Session
from mqctl.errors import ExitCode, Held, UsageError
from mqctl.model import Holder
from mqctl.report.locks import LockRow, holder_of, lock_lines
from mqctl.report.report import View, wants_color
from mqctl.report.summary import holder_name, holder_times
from mqctl.report.text import plain

if TYPE_CHECKING:
    from mqctl.lock import LockStatus

_SHORTEST_TOKEN = 8
_STATUS_EPILOG = epilog(
    """
    mqctl lock status                     of every declared Marquee
    mqctl lock status east-1 -o json      for a script
    """,
    ExitCode.OK,
    ExitCode.USAGE,
    ExitCode.UNREACHABLE,
    ExitCode.REFUSED,
    ExitCode.CONFIG,
    OK="it was shown, whatever it is",
)
_BREAK_EPILOG = epilog(
    """
    mqctl lock break east-1                    shows the holder, then asks
    mqctl lock break east-1 --yes --token 1f0c9a3e --reason "runner was deleted"
    mqctl lock break east-1 --force            although the holder may be alive
    """,
    ExitCode.OK,
    ExitCode.FAILED,
    ExitCode.USAGE,
    ExitCode.UNREACHABLE,
    ExitCode.HELD,
    ExitCode.REFUSED,
    ExitCode.CONFIG,
    OK="the lock is gone, or was free",
    FAILED="you said no",
    USAGE="usage, or no terminal to ask at and no --yes with --token",
    HELD="the holder is not proven dead, or the lock changed",
)

Token = Annotated[
    str | None,
    typer.Option(
        "--token", metavar="PREFIX", help="Only the lock with this token (8 characters or more)."
    ),
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the history.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Even if the holder is not proven dead: it may be alive.")
]


def register(app: typer.Typer) -> None:
    """Add the group and its commands."""
    locks = group("lock", text="Look at locks, and break one that its holder will not release.")
    add(locks, "status", status, summary="Show who holds what", epilog=_STATUS_EPILOG)
    add(locks, "break", break_, summary="Clear a lock", epilog=_BREAK_EPILOG)
    app.add_typer(locks)


def status(
    ctx: typer.Context,
    *,
    marquee: options.Marquees = None,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Show who holds what, since when, until when, and in which phase.

    No name means all Marquees. A lock is "stale" only when its holder is proven dead: it ran on
    this machine, in this boot, and its process is gone.
    """
    session: Session = ctx.obj
    session.begin("lock status", Common(config, output, quiet, verbose, color), locks=[])
    from mqctl.cli.wiring import loader, open_store  # noqa: PLC0415 - not for --help
    from mqctl.lock import status as look  # noqa: PLC0415 - not for --help

    fleet = loader(session)()
    chosen = names.known(fleet, marquee or [one.name for one in fleet.marquees])
    with open_store(session, fleet) as store:
        seen = look(store, fleet.name, chosen)
    if output == "json":
        session.answer_json(ExitCode.OK, {"locks": [one.as_json() for one in seen]})
    elif output == "jsonl":
        for one in seen:
            session.answer_jsonl(one.as_json())
    else:
        _show(session, [_row(one) for one in seen])
    return ExitCode.OK


def break_(
    ctx: typer.Context,
    *,
    marquee: options.OneMarquee,
    token: Token = None,
    reason: Reason = "",
    yes: options.Yes = False,
    force: Force = False,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Clear a lock that its holder will not.

    Shows the holder, asks for the Marquee's name, and deletes exactly the lock that was shown. Then
    the host is told to refuse the old holder's next command. A holder that is not proven dead is
    alive: that needs --force.
    """
    session: Session = ctx.obj
    session.begin("lock break", Common(config, output, quiet, verbose, color))
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise UsageError(
            f"--token {plain(token)} is too short",
            why="a short prefix could fit another lock",
            fix=f"give {_SHORTEST_TOKEN} characters or more; mqctl lock status -o json shows them",
        )
    from mqctl.cli.wiring import loader, open_store  # noqa: PLC0415 - not for --help
    from mqctl.lock import break_lock, look  # noqa: PLC0415 - not for --help

    fleet = loader(session)()
    declared = names.marquee_of(fleet, marquee)
    with open_store(session, fleet) as store:
        seen = look(store, fleet.name, marquee)
        if seen.state == "free":
            return _tell(session, _Broken(seen, f"the lock of {marquee} is free"))
        _may_break(session, seen, token=token, yes=yes, force=force)
        if not (yes and token) and not _agreed(session, seen):
            return _declined(session, seen)
        with session.signals.deferred():
            broken = break_lock(store, fleet.name, seen, who=_who(), reason=reason, force=force)
            if broken is None:
                return _tell(session, _Broken(seen, f"the lock of {marquee} was free by then"))
            host = close_host(session, declared, broken, fleet.lock_ttl)
    sentence = f"the lock of {marquee} was broken; it was {_whose(session, seen)}"
    # An interrupt does not undo it, so it is told all the same.
    code = session.cancel.status if session.cancel.cancelled else ExitCode.OK
    return _tell(session, _Broken(seen, sentence, broken.number, host), code)


def _row(seen: LockStatus) -> LockRow:
    return LockRow(
        marquee=seen.marquee,
        state=seen.state.value,
        token=seen.token,
        fence=seen.fence,
        ttl_ms=seen.ttl_ms,
        owner=seen.owner,
        pending=seen.pending,
        quarantined=seen.quarantined,
        last_cycle=seen.last_cycle,
    )


def _show(session: Session, rows: list[LockRow]) -> None:
    out = session.streams.out
    view = View(color=session.common.color, environ=session.environ)
    width = shutil.get_terminal_size().columns if out.isatty() else None
    for line in lock_lines(rows, session.clock.now(), width=width, color=wants_color(view, out)):
        session.answer(line)
    if width is not None and any(row.state != "free" for row in rows):
        session.note("")
        session.note("To wait for a lock: mqctl reconcile MARQUEE --wait 10m")
        session.note("To clear one whose holder is dead: mqctl lock break MARQUEE")


def _holder(seen: LockStatus) -> Holder:
    return holder_of(_row(seen)) or Holder(token="")


def _whose(session: Session, seen: LockStatus) -> str:
    holder = _holder(seen)
    times = holder_times(holder, session.clock.now())
    return f"{holder_name(holder)}'s" + (f", {times}" if times else "")


@dataclass(frozen=True, slots=True)
class _Broken:
    """How a break ended. ``number`` is the minted fence; None: nothing was broken."""

    seen: LockStatus
    sentence: str
    number: int | None = None
    host: HostTold | None = None


def _may_break(
    session: Session, seen: LockStatus, *, token: str | None, yes: bool, force: bool
) -> None:
    """Refuse what must not be broken, or cannot be asked about here."""
    name = seen.marquee
    if token is not None and not (seen.token or "").startswith(token):
        raise Held(
            f"the lock of {name} was not broken",
            why=f"it is another one than {plain(token)}: {_whose(session, seen)}",
            fix=f"look again: mqctl lock status {name}",
        )
    if seen.state != "stale" and not force:
        raise Held(
            f"the lock of {name} was not broken: its holder is not proven dead",
            why=f"it is {_whose(session, seen)}",
            fix=f"wait: mqctl reconcile {name} --wait 10m\n"
            f"or, if you know that it is dead: mqctl lock break {name} --force",
        )
    if not (yes and token) and not can_ask(session):
        raise UsageError(
            "lock break has to ask, and there is no terminal",
            why=f"nothing was done; the lock is {_whose(session, seen)}",
            fix=f"--yes --token {(seen.token or 'TOKEN')[:_SHORTEST_TOKEN]}",
        )


def _agreed(session: Session, seen: LockStatus) -> bool:
    line = session.streams.err.line
    line(f"The lock of {seen.marquee} is {_whose(session, seen)}.")
    if command := _holder(seen).command:
        line(f"It runs: {plain(command)}")
    if seen.state == "stale":
        line("That process is proven dead.")
    else:
        line("That process may be alive: what it is doing right now may go on beside yours.")
    return ask(session, f"Type the Marquee's name ({seen.marquee}) to break it:", seen.marquee)


def _declined(session: Session, seen: LockStatus) -> int:
    sentence = f"declined: the lock of {seen.marquee} was not broken"
    return _tell(session, _Broken(seen, sentence), ExitCode.FAILED)


def _tell(session: Session, end: _Broken, code: ExitCode = ExitCode.OK) -> int:
    if session.json:
        body = {
            "lock": end.seen.as_json(),
            "broken": end.number is not None,
            "fence": end.number,
            "host": end.host.word if end.host else None,
            "detail": end.host.sentence if end.host else end.sentence,
        }
        session.answer_json(code, body)
        return code
    write = session.note if code == ExitCode.FAILED else session.answer
    write(end.sentence)
    if end.host:
        session.answer(f"host: {end.host.sentence}")
    return code


def _who() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "?"
    return f"{user}@{socket.gethostname()}"
