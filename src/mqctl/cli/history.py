"""``mqctl history``: what changed or failed, from Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from mqctl.cli import names, options
from mqctl.cli.layout import add, epilog
from mqctl.cli.session import Common, Session
from mqctl.errors import ExitCode
from mqctl.report.text import plain

_EPILOG = epilog(
    """
    mqctl history                         of all Marquees, the youngest last
    mqctl history east-1 -o jsonl         one event a line
    """,
    ExitCode.OK,
    ExitCode.USAGE,
    ExitCode.UNREACHABLE,
    ExitCode.REFUSED,
    ExitCode.CONFIG,
    OK="it was shown",
)
# What the columns show; the rest follows as key=value.
_FIRST = ("at", "marquee", "event")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "history", history, summary="Show what changed or failed, from Redis", epilog=_EPILOG)


def history(
    ctx: typer.Context,
    *,
    marquee: options.Marquees = None,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Show the cycles that changed or failed, the locks that were broken or lost.

    About the last 500 events of each Marquee are kept; a cycle that changed nothing is none. No
    name means all Marquees.
    """
    session: Session = ctx.obj
    session.begin("history", Common(config, output, quiet, verbose, color), events=[])
    from mqctl.cli.wiring import loader, open_store  # noqa: PLC0415 - not for --help

    fleet = loader(session)()
    chosen = names.known(fleet, marquee or [one.name for one in fleet.marquees])
    events = []
    with open_store(session, fleet) as store:
        for name in chosen:
            session.cancel.check()
            events += [
                {**entry, "marquee": name} for entry in store.memory(fleet.name, name).history()
            ]
    events.sort(key=lambda entry: entry.get("at", ""))
    if output == "json":
        session.answer_json(ExitCode.OK, {"events": events})
    elif output == "jsonl":
        for entry in events:
            session.answer_jsonl(entry)
    else:
        for line in lines(events, spread=session.streams.out.isatty()):
            session.answer(line)
        if not events:
            session.note("nothing has happened yet")
    return ExitCode.OK


def lines(events: Sequence[Mapping[str, str]], *, spread: bool = False) -> list[str]:
    """Events as lines in columns: when, where, what, and the rest as key=value.

    ``spread`` gives each thing that a cycle did a line of its own, for people.
    """
    width = max((len(plain(entry["marquee"])) for entry in events), default=0)
    kinds = max((len(plain(entry.get("event", ""))) for entry in events), default=0)
    shown = []
    for entry in events:
        apart = entry.get("what", "").split("; ") if spread and entry.get("what") else []
        left_out = {*_FIRST, *(["what"] if spread else [])}
        rest = (f"{plain(k)}={plain(v)}" for k, v in entry.items() if k not in left_out and v)
        head = (
            plain(entry.get("at", "-")),
            f"{plain(entry['marquee']):<{width}}",
            f"{plain(entry.get('event', '-')):<{kinds}}",
        )
        shown.append("  ".join((*head, *rest)).rstrip())
        shown += [f"    {plain(one)}" for one in apart]
    return shown
