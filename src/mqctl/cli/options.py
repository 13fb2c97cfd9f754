"""The options and arguments that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mqctl.cli import complete
from mqctl.cli.layout import COMMON
from mqctl.errors import UsageError

Output = Literal["text", "json", "jsonl"]
Color = Literal["auto", "always", "never"]

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        envvar="MQCTL_CONFIG",
        help="The declared file. Default: ./marquees.yaml, then"
        " $XDG_CONFIG_HOME/mqctl/marquees.yaml, then /etc/mqctl/marquees.yaml.",
        rich_help_panel=COMMON,
    ),
]
OutputForm = Annotated[
    Output,
    typer.Option(
        "--output",
        "-o",
        metavar="text|json|jsonl",
        envvar="MQCTL_OUTPUT",
        help="The form of the answer.",
        rich_help_panel=COMMON,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Nothing but failures; away from a terminal each when it changes and then once an"
        " hour.",
        rich_help_panel=COMMON,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also steps, renewals and costs.", rich_help_panel=COMMON),
]
ColorWhen = Annotated[
    Color,
    typer.Option(
        "--color",
        metavar="auto|always|never",
        help="Colours; auto: at a terminal, unless NO_COLOR is set.",
        rich_help_panel=COMMON,
    ),
]

Marquees = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MARQUEE",
        help="Names as declared in the file.",
        autocompletion=complete.marquees,
        show_default=False,
    ),
]
OneMarquee = Annotated[
    str,
    typer.Argument(
        metavar="MARQUEE",
        help="Its name as declared in the file.",
        autocompletion=complete.marquees,
        show_default=False,
    ),
]
All = Annotated[bool, typer.Option("--all", help="Every launchable Marquee.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Show what would be done; take no lock.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Marquees at the same time.")
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait", metavar="DURATION", help="Come back to a taken lock for so long, e.g. 60s."
    ),
]
HeldOk = Annotated[
    bool, typer.Option("--held-ok", help="A Marquee that is held by someone else is no failure.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def duration(option: str, text: str) -> float:
    """Read a duration, in seconds.

    Raises:
        UsageError: it is not one.
    """
    from mqctl.config.durations import parse_duration  # noqa: PLC0415 - not for --help

    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(
            f"invalid value for {option}: {text}",
            why=str(error),
            fix=f"write it with a unit: {option} 90s",
        ) from None
