"""The tree of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from mqctl import __version__
from mqctl.cli import config, history, lock, reconcile, sweep
from mqctl.cli.layout import Group, all_statuses
from mqctl.cli.session import Session
from mqctl.errors import ExitCode

_EPILOG = f"""
Examples:
  mqctl init                            write a first marquees.yaml
  mqctl config check                    is it right?
  mqctl reconcile --all --dry-run       what would be done
  mqctl reconcile east-1                do it
  mqctl lock status                     who works where

Environment:
  MQCTL_CONFIG, MQCTL_REDIS_URL, MQCTL_OUTPUT, NO_COLOR

{all_statuses()}
  Treat any other status as a failure.

Options go after the command; mqctl COMMAND --help tells them.
"""


def build() -> typer.Typer:
    """Give the program with all its commands."""
    app = typer.Typer(
        name="mqctl",
        cls=Group,
        add_completion=False,  # two options that nobody needs; main() sees to completion
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
        epilog=_EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="COMMAND [OPTIONS]",
        options_metavar="",
    )
    app.callback()(program)
    reconcile.register(app)
    lock.register(app)
    sweep.register(app)
    history.register(app)
    config.register(app)
    return app


def program(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> int | None:
    """Bring Docker hosts (Marquees) to what one file declares, one guarded cycle at a time.

    A cycle runs only under its Marquee's lock in Redis, and the host itself refuses the commands of
    a cycle that has lost it.
    """
    session: Session = ctx.obj
    if version:
        session.answer(f"mqctl {__version__}")
        raise typer.Exit(ExitCode.OK)
    if ctx.invoked_subcommand is None:
        session.streams.err.line(ctx.get_help())
        raise typer.Exit(ExitCode.USAGE)
    return None
