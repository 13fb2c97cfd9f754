"""``mqctl sweep``: plan without the lock, show, ask, then lock, plan again, remove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from mqctl.cli import names, options
from mqctl.cli.layout import add, epilog
from mqctl.cli.options import duration
from mqctl.cli.questions import ask, can_ask
from mqctl.cli.session import Common, Session
from mqctl.errors import ExitCode, UsageError
from mqctl.model import CycleReport, Decision, ErrorReport, Result, RunReport, Verb
from mqctl.report.text import count, plain

_EPILOG = epilog(
    """
    mqctl sweep east-1 --dry-run          what would go, and what stays and why
    mqctl sweep east-1                    the same, then asks
    mqctl sweep --all --yes               in a script
    mqctl sweep east-1 --volumes          with the volumes of what is removed
    """,
    ExitCode.OK,
    ExitCode.FAILED,
    ExitCode.USAGE,
    ExitCode.LOST,
    ExitCode.UNREACHABLE,
    ExitCode.HELD,
    ExitCode.REFUSED,
    ExitCode.CONFIG,
    OK="removed, or nothing to remove",
    FAILED="a removal failed, was refused, or you said no",
    USAGE="usage, or no terminal to ask at and no --yes: nothing was done",
)

Volumes = Annotated[
    bool, typer.Option("--volumes", help="Also remove the volumes of the projects that go.")
]
AllowEmpty = Annotated[
    bool,
    typer.Option("--allow-empty", help="Even if the file declares nothing for the Marquee."),
]
AllowMany = Annotated[
    bool,
    typer.Option("--allow-many", help="Even if more than half of the projects (and 3) would go."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "sweep",
        sweep,
        summary="Remove what mqctl made and nothing declares any more",
        epilog=_EPILOG,
    )


def sweep(
    ctx: typer.Context,
    *,
    marquee: options.Marquees = None,
    every_marquee: options.All = False,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    volumes: Volumes = False,
    allow_empty: AllowEmpty = False,
    allow_many: AllowMany = False,
    wait: options.Wait = None,
    held_ok: options.HeldOk = False,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Remove what mqctl made on a Marquee and nothing declares any more.

    Only what carries all proofs of being mqctl's is touched; dirty checkouts, foreign files and
    data volumes stay. It shows the list first and asks.
    """
    session: Session = ctx.obj
    session.begin("sweep", Common(config, output, quiet, verbose, color), cycles=[])
    seconds_to_wait = duration("--wait", wait) if wait is not None else 0.0
    if not dry_run and not yes and not can_ask(session):
        raise UsageError(
            "sweep has to ask, and there is no terminal",
            why="nothing was done",
            fix="look with --dry-run, then run it with --yes",
        )

    from mqctl.cli.wiring import loader, perform  # noqa: PLC0415 - not for --help

    load = loader(session)
    fleet = load()
    chosen = names.select(fleet, list(marquee or []), every=every_marquee, command="sweep")

    from mqctl.fleet import Request  # noqa: PLC0415 - not for --help

    request = Request(
        command="sweep",
        marquees=chosen,
        dry_run=True,
        wait=seconds_to_wait,
        held_ok=held_ok,
        volumes=volumes,
        allow_empty=allow_empty,
        allow_many=allow_many,
    )
    if dry_run:
        return perform(session, load, request, scope=fleet.name).exit_code
    plan = perform(session, load, request, scope=fleet.name, planning=True)
    going = removals(plan)
    _show(session, plan)
    if not yes:
        if not going:
            return _end(session, plan.exit_code, "nothing to remove")
        if not ask(session, f"Remove {count(len(going), 'thing')}? Type y to go on:", "y"):
            return _end(session, ExitCode.FAILED, "declined: nothing was removed")
    approved = frozenset(going)
    real = replace(request, dry_run=False, approved=approved)
    return perform(session, load, real, scope=fleet.name).exit_code


def removals(plan: RunReport) -> list[tuple[str, str]]:
    """What a plan would remove, as (Marquee, subject)."""
    return [
        (cycle.marquee, decision.subject)
        for cycle in plan.cycles
        for decision in cycle.decisions
        if _goes(decision)
    ]


def _goes(decision: Decision) -> bool:
    return decision.action is Verb.REMOVE and decision.result is Result.PLANNED


def _show(session: Session, plan: RunReport) -> None:
    """The plan: part of the answer, but beside it when the answer is JSON."""
    write = session.streams.err.line if session.json else session.answer
    if session.common.quiet and not can_ask(session):
        return
    for cycle in plan.cycles:
        for line in plan_lines(cycle):
            write(line)


def plan_lines(cycle: CycleReport) -> Iterable[str]:
    """One Marquee's plan for people."""
    going = [one for one in cycle.decisions if _goes(one)]
    staying = [one for one in cycle.decisions if not _goes(one)]
    if not cycle.decisions:
        yield f"{plain(cycle.marquee)}: {cycle.outcome.value}, nothing found to remove"
        return
    yield f"{plain(cycle.marquee)}: {len(going)} to remove, {len(staying)} to keep"
    width = max(len(plain(one.subject)) for one in cycle.decisions)
    for word, decisions in (("remove", going), ("keep", staying)):
        for one in decisions:
            why = plain(one.reason) + (f": {plain(one.detail)}" if one.detail else "")
            yield f"  {word:<6}  {plain(one.subject):<{width}}  {why}"


def _end(session: Session, code: int, sentence: str) -> int:
    if session.json:
        error = ErrorReport(code, sentence) if code else None
        session.answer_json(code, {"cycles": []}, error)
    else:
        session.note(sentence)
    return code
