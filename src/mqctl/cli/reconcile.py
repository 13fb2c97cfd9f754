"""``mqctl reconcile``."""

from __future__ import annotations

from typing import Annotated

import typer

from mqctl.cli import complete, names, options
from mqctl.cli.layout import add, epilog
from mqctl.cli.options import duration
from mqctl.cli.session import Common, Session
from mqctl.errors import ExitCode, UsageError

_EPILOG = epilog(
    """
    mqctl reconcile east-1                one cycle, now
    mqctl reconcile --all --dry-run       what would be done
    mqctl reconcile --all --wait 10m      come back for 10 min to what is held
    mqctl reconcile east-1 --phase git-state --phase branches
    mqctl reconcile --playground east-1/demo --now
    mqctl reconcile --all --every 60s     a dispatcher: a tick each minute
    mqctl reconcile --all -q --held-ok    in cron
    """,
    ExitCode.OK,
    ExitCode.FAILED,
    ExitCode.USAGE,
    ExitCode.PENDING,
    ExitCode.LOST,
    ExitCode.UNREACHABLE,
    ExitCode.HELD,
    ExitCode.REFUSED,
    ExitCode.CONFIG,
)

PhaseNames = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        help="Only this phase; repeatable. git-state, branches, images, playgrounds, agent-chats,"
        " sweep.",
        autocompletion=complete.phases,
        show_default=False,
    ),
]
SkippedNames = Annotated[
    list[str] | None,
    typer.Option(
        "--skip",
        metavar="NAME",
        help="All phases but this one; repeatable.",
        autocompletion=complete.phases,
        show_default=False,
    ),
]
OnePlayground = Annotated[
    str | None,
    typer.Option(
        "--playground",
        metavar="MARQUEE/NAME",
        help="Only this Playground; chats and sweep are left out.",
        autocompletion=complete.playgrounds,
    ),
]
DetailedExitcode = Annotated[
    bool, typer.Option("--detailed-exitcode", help="With --dry-run: 3 when changes are pending.")
]
RetryDelay = Annotated[
    str, typer.Option("--retry-delay", metavar="DURATION", help="Between two tries of --wait.")
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="DURATION",
        help="Again and again, the first at once; 60s when no value fits better. A Marquee whose"
        " cycle still runs is skipped by the tick.",
    ),
]
Now = Annotated[
    bool,
    typer.Option("--now", help="Ignore grace, cooldown and budget; never the veto of dirty work."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "reconcile",
        reconcile,
        summary="Bring Marquees to what the file declares, one cycle each",
        epilog=_EPILOG,
    )


def reconcile(
    ctx: typer.Context,
    *,
    marquee: options.Marquees = None,
    every_marquee: options.All = False,
    phase: PhaseNames = None,
    skip: SkippedNames = None,
    playground: OnePlayground = None,
    dry_run: options.DryRun = False,
    detailed_exitcode: DetailedExitcode = False,
    jobs: options.Jobs = 4,
    wait: options.Wait = None,
    retry_delay: RetryDelay = "5s",
    held_ok: options.HeldOk = False,
    every: Every = None,
    now: Now = False,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Bring Marquees to what the file declares: one guarded cycle on each.

    A cycle takes the Marquee's lock, looks, changes only what differs, and proves after every phase
    that it still holds the lock. A lock that someone else holds means: say who, do nothing, exit
    75. Name the Marquees, or say --all.
    """
    session: Session = ctx.obj
    session.begin("reconcile", Common(config, output, quiet, verbose, color), cycles=[])
    interval = duration("--every", every) if every is not None else None
    _check(session, interval, dry_run=dry_run, detailed_exitcode=detailed_exitcode)
    seconds_to_wait = duration("--wait", wait) if wait is not None else 0.0
    delay = duration("--retry-delay", retry_delay)
    phases, skipped = _phases(phase or [], skip or [])

    from mqctl.cli.wiring import loader, perform  # noqa: PLC0415 - not for --help

    load = loader(session)
    fleet = load()
    named = list(marquee or [])
    only = None
    if playground is not None:
        on, only = names.playground_of(fleet, playground)
        if every_marquee or set(named) - {on}:
            raise UsageError(
                f"--playground {playground} is about {on} alone",
                why="another Marquee or --all was given beside it",
                fix=f"mqctl reconcile --playground {playground}",
            )
        named = [on]
    chosen = names.select(fleet, named, every=every_marquee, command="reconcile")

    from mqctl.fleet import Request  # noqa: PLC0415 - not for --help

    request = Request(
        command="reconcile",
        marquees=chosen,
        phases=phases,
        skip=skipped,
        playground=only,
        dry_run=dry_run,
        detailed_exitcode=detailed_exitcode,
        jobs=jobs,
        wait=seconds_to_wait,
        retry_delay=delay,
        held_ok=held_ok,
        now=now,
    )
    return perform(session, load, request, scope=fleet.name, every=interval).exit_code


def _check(
    session: Session, interval: float | None, *, dry_run: bool, detailed_exitcode: bool
) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if detailed_exitcode and not dry_run:
        raise UsageError(
            "--detailed-exitcode needs --dry-run",
            why="without --dry-run the changes are made, not pending",
            fix="add --dry-run, or leave --detailed-exitcode out",
        )
    if interval is None:
        return
    if session.common.output == "json":
        raise UsageError(
            "--every and --output json do not go together",
            why="json is one document, and this run has no end",
            fix="use --output jsonl",
        )
    if interval < 1:
        raise UsageError(
            "invalid value for --every: less than a second", fix="60s suits most fleets"
        )


def _phases(only: list[str], skipped: list[str]) -> tuple[frozenset[str] | None, frozenset[str]]:
    for option, given in (("--phase", only), ("--skip", skipped)):
        for name in given:
            if name not in complete.PHASES:
                raise _no_phase(option, name)
    phases = frozenset(only) if only else None
    if not (phases or frozenset(complete.PHASES)) - frozenset(skipped):
        raise UsageError(
            "no phase is left", why="every phase was skipped", fix="leave a --skip out"
        )
    return phases, frozenset(skipped)


def _no_phase(option: str, name: str) -> UsageError:
    error = names.unknown("phase", name, complete.PHASES)
    return UsageError(f"invalid value for {option}: {error.what}", why=error.why, fix=error.fix)
