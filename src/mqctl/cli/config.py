"""``mqctl config check``, ``show``, ``schema`` and ``mqctl init``: all offline."""

from __future__ import annotations

from pathlib import Path

import typer

from mqctl.cli import options
from mqctl.cli.layout import add, epilog, group
from mqctl.cli.session import Common, Session
from mqctl.errors import ExitCode
from mqctl.report.text import count, plain

_STATUSES = (ExitCode.OK, ExitCode.USAGE, ExitCode.CONFIG)
_CHECK_EPILOG = epilog(
    """
    mqctl config check                    the file that every command would use
    mqctl config check -c staging.yaml
    """,
    *_STATUSES,
    OK="it is right (warnings may be printed)",
)
_SHOW_EPILOG = epilog(
    """
    mqctl config show                     with every default, secrets as ***
    mqctl config show -o json
    """,
    *_STATUSES,
    OK="it was shown",
)
_SCHEMA_EPILOG = epilog(
    """
    mqctl config schema > marquees.schema.json
    """,
    ExitCode.OK,
    ExitCode.USAGE,
    OK="it was printed",
)
_INIT_EPILOG = epilog(
    """
    mqctl init                            writes ./marquees.yaml
    mqctl init -c deploy/marquees.yaml
    """,
    ExitCode.OK,
    ExitCode.FAILED,
    ExitCode.USAGE,
    OK="it was written",
    FAILED="there is such a file already, or it cannot be written",
)


def register(app: typer.Typer) -> None:
    """Add the group, its commands, and ``init``."""
    files = group("config", text="Check and show the declared file, without touching anything.")
    add(files, "check", check, summary="Validate the declared file", epilog=_CHECK_EPILOG)
    add(files, "show", show, summary="Print what is in force", epilog=_SHOW_EPILOG)
    add(files, "schema", schema, summary="Print the JSON Schema", epilog=_SCHEMA_EPILOG)
    app.add_typer(files)
    add(app, "init", init, summary="Write a marquees.yaml to start from", epilog=_INIT_EPILOG)


def check(
    ctx: typer.Context,
    *,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Validate the declared file: all that is wrong with it, each with its line and column."""
    session: Session = ctx.obj
    session.begin("config check", Common(config, output, quiet, verbose, color), warnings=[])
    from mqctl.cli.wiring import loader  # noqa: PLC0415 - not for --help
    from mqctl.config.warnings import cautions  # noqa: PLC0415 - not for --help

    fleet = loader(session)()
    warnings = cautions(fleet)
    if session.json:
        session.answer_json(ExitCode.OK, {"file": str(fleet.source), "warnings": warnings})
        return ExitCode.OK
    for warning in warnings:
        session.note(f"mqctl: warning: {plain(warning)}")
    if not quiet:
        ready = sum(one.launchable for one in fleet.marquees)
        playgrounds = sum(len(one.playgrounds) for one in fleet.marquees)
        chats = sum(len(one.agent_chats) for one in fleet.marquees)
        session.answer(
            f"{plain(str(fleet.source))}: fleet {fleet.name},"
            f" {count(len(fleet.marquees), 'Marquee')} ({ready} launchable),"
            f" {count(playgrounds, 'Playground')}, {count(chats, 'AgentChat')}:"
            f" no errors, {count(len(warnings), 'warning')}"
        )
    return ExitCode.OK


def show(
    ctx: typer.Context,
    *,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Print what is in force: the file with every default, secrets as ***."""
    session: Session = ctx.obj
    session.begin("config show", Common(config, output, quiet, verbose, color))
    from mqctl.cli.wiring import loader  # noqa: PLC0415 - not for --help
    from mqctl.config.show import show as effective  # noqa: PLC0415 - not for --help

    shown = effective(loader(session)())
    if session.json:
        session.answer_json(ExitCode.OK, {"config": shown})
        return ExitCode.OK
    import yaml  # noqa: PLC0415 - not for --help

    # allow_unicode stays off: what a terminal could obey is escaped, as in JSON.
    for line in yaml.safe_dump(shown, sort_keys=False, width=1000).splitlines():
        session.answer(line)
    return ExitCode.OK


def schema(
    ctx: typer.Context,
    *,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Print the JSON Schema of the declared file, for editors that complete and check it."""
    session: Session = ctx.obj
    # Always the schema itself, whatever --output says: it is JSON already.
    session.begin("config schema", Common(None, output, quiet, verbose, color))
    from mqctl.config.schema import schema as build  # noqa: PLC0415 - not for --help
    from mqctl.report.json_document import dump  # noqa: PLC0415 - not for --help

    session.streams.out.write_masked(dump(build(), indent=2) + "\n")
    session.answered = True
    return ExitCode.OK


def init(
    ctx: typer.Context,
    *,
    config: options.ConfigFile = None,
    output: options.OutputForm = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = "auto",
) -> int:
    """Write a commented marquees.yaml (or --config FILE) to start from; never overwrites one."""
    session: Session = ctx.obj
    session.begin("init", Common(config, output, quiet, verbose, color))
    from mqctl.config.init import write_starter  # noqa: PLC0415 - not for --help

    target = Path("marquees.yaml") if config is None else config
    write_starter(target)
    if session.json:
        session.answer_json(ExitCode.OK, {"file": str(target)})
    else:
        session.answer(f"wrote {plain(str(target))}; next: edit it, then mqctl config check")
    return ExitCode.OK
