"""The console entry: signals first, then the command, then one place that ends the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mqctl.cancel import CancelToken
from mqctl.cli.session import Session
from mqctl.cli.signals import Signals
from mqctl.errors import Cancelled, ExitCode, LockLost, MqctlError
from mqctl.model import ErrorReport
from mqctl.report.streams import Streams
from mqctl.report.summary import problem_lines

PROGRAM = "mqctl"
COMPLETE_VARIABLE = "_MQCTL_COMPLETE"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; give the exit status."""
    token = CancelToken()
    session = Session(Streams.standard(), token, Signals(token))
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        session.signals.install()
        if COMPLETE_VARIABLE in os.environ:
            return _complete()
        code = _run(session, arguments)
    except KeyboardInterrupt:  # before the handlers were in place
        return ExitCode.SIGINT
    except (Exception, Cancelled, LockLost) as error:  # noqa: BLE001 - the one last place
        code = _end(session, arguments, error)
    return _written(session, code)


def _run(session: Session, arguments: list[str]) -> int:
    """Parse and call. Not through Typer's own ``main``, which would map errors its own way."""
    import typer  # noqa: PLC0415 - signals are handled before the 40 ms that it takes

    from mqctl.cli.app import build  # noqa: PLC0415 - the same
    from mqctl.cli.usage import as_usage_error, command_of, guess_output  # noqa: PLC0415 - the same

    command = typer.main.get_command(build())
    try:
        with command.make_context(PROGRAM, list(arguments), obj=session) as context:
            return int(command.invoke(context) or ExitCode.OK)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        if not session.command:  # the command line was not understood
            session.command = command_of(error, arguments)
            session.with_output(guess_output(arguments, session.environ))
        raise as_usage_error(error, arguments) from None


def _complete() -> int:
    """Answer the shell, as the scripts in ``completions/`` ask."""
    # What Typer itself calls, given add_completion=True; it has no public name for it.
    from typer.completion import (  # type: ignore[attr-defined] # noqa: PLC0415 - only for TAB
        completion_init,
        shell_complete,
    )
    from typer.main import get_command  # noqa: PLC0415 - only for TAB

    from mqctl.cli.app import build  # noqa: PLC0415 - only for TAB

    completion_init()
    instruction = os.environ[COMPLETE_VARIABLE]
    return shell_complete(get_command(build()), {}, PROGRAM, COMPLETE_VARIABLE, instruction)


def _end(session: Session, arguments: list[str], error: BaseException) -> int:
    """From an error to its sentences and its exit status: the only switch."""
    match error:
        case MqctlError():
            problem = ErrorReport(error.code, error.what, error.why, error.fix)
        case Cancelled():
            problem = ErrorReport(error.status, f"ended by {error.status.name}")
        case LockLost():
            problem = ErrorReport(error.code, "the lock was lost", error.why)
        case _:
            problem = _crashed(session, arguments, error)
    _tell(session, problem)
    return problem.code


def _crashed(session: Session, arguments: list[str], error: BaseException) -> ErrorReport:
    from mqctl.cli.crash import one_line, where, write_crash_report  # noqa: PLC0415 - hopefully rare

    path = write_crash_report(error, arguments, session.environ, session.clock.now())
    return ErrorReport(
        ExitCode.BUG,
        f"a bug in mqctl: {one_line(error)}",
        f"at {where(error)}; "
        + (f"the report is {path}" if path else "no report could be written"),
        "send that file to the maintainers; mqctl lock status tells whether a lock is left",
    )


def _tell(session: Session, problem: ErrorReport) -> None:
    if session.json and not session.answered:
        session.answer_json(problem.code, session.empty, problem)
    if _is_news(session, problem):
        for line in problem_lines(problem):
            session.streams.err.line(line)


def _is_news(session: Session, problem: ErrorReport) -> bool:
    """With ``-q`` away from a terminal, a job that runs every minute tells a problem hourly."""
    lasting = (ExitCode.CONFIG, ExitCode.UNREACHABLE, ExitCode.REFUSED, ExitCode.HELD)
    if not session.common.quiet or problem.code not in lasting or session.streams.err.isatty():
        return True
    from mqctl.report.quiet import Told, told_path  # noqa: PLC0415 - only when asked for

    told = Told(told_path(session.environ), session.clock)
    return told.news(f"{session.command} {session.common.config}", f"{problem.what} {problem.why}")


def _written(session: Session, code: int) -> int:
    """A full disk must not look like success."""
    failure = session.streams.out.failure
    if failure is None:
        return code
    problem = ErrorReport(ExitCode.FAILED, "standard output cannot be written", str(failure))
    for line in problem_lines(problem):
        session.streams.err.line(line)
    return code or ExitCode.FAILED
