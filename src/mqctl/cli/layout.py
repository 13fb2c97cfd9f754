"""How ``--help`` looks and how completion parses: Typer's classes with a few lines changed.

Typer's own help repeats Python types beside arguments and rewraps examples. Its completion converts
every value with pydantic, which costs more than everything else that a key press waits for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mqctl.errors import ExitCode

COMMON = "Options of every command"

_STATUS_TEXT = {
    ExitCode.OK: "converged, changed, or nothing to do",
    ExitCode.FAILED: "finished, but something failed, was refused or declined",
    ExitCode.USAGE: "usage, or a question that cannot be asked without a terminal",
    ExitCode.PENDING: "--dry-run --detailed-exitcode: changes are pending",
    ExitCode.LOST: "lock lost: the cycle was aborted",
    ExitCode.UNREACHABLE: "Redis, SSH or Docker cannot be reached",
    ExitCode.BUG: "a bug in mqctl; a crash report was written",
    ExitCode.HELD: "held by someone else, or the host is still busy",
    ExitCode.REFUSED: "refused: SSH or Redis authentication, host key, guard",
    ExitCode.CONFIG: "the declared file is missing or wrong",
}
_BY_SIGNAL = "129, 130, 143  SIGHUP, SIGINT, SIGTERM, after cleaning up"


def epilog(examples: str, *codes: ExitCode, **own: str) -> str:
    """Give the end of a help text: examples, then the exit statuses with their meanings.

    ``own`` overrides a meaning for this command: ``OK="the lock is gone"``.
    """
    rows = [f"  {code:<4} {own.get(code.name, _STATUS_TEXT[code])}" for code in codes]
    lines = inspect.cleandoc(examples).splitlines()
    shown = ["Examples:", *(f"  {line}" if line else "" for line in lines)]
    return "\n".join([*shown, "", "Exit status:", *rows])


def all_statuses() -> str:
    """Every exit status, for the help of the whole program."""
    rows = [f"  {code:<4} {text}" for code, text in _STATUS_TEXT.items()]
    return "\n".join(["Exit status:", *rows, f"  {_BY_SIGNAL}"])


def add(
    app: typer.Typer, name: str, function: Callable[..., int], *, summary: str, epilog: str
) -> None:
    """Add a command; ``summary`` is its line in the list of commands."""
    app.command(name, cls=Command, short_help=summary, epilog=epilog, options_metavar="[OPTIONS]")(
        function
    )


def group(name: str, *, text: str) -> typer.Typer:
    """Give an empty group of commands."""
    return typer.Typer(
        name=name,
        cls=Group,
        help=text,
        rich_markup_mode=None,
        options_metavar="",
        subcommand_metavar="COMMAND [OPTIONS]",
    )


def _show_help(ctx: Any, _parameter: Any, wanted: bool) -> None:
    """Print the help as every other answer: a reader that goes away is no crash."""
    if wanted and not ctx.resilient_parsing:
        ctx.obj.answer(ctx.get_help())
        raise typer.Exit(ExitCode.OK)


class _Layout:
    """The changed methods; mixed into both of Typer's classes."""

    epilog: str | None

    def get_help_option(self, ctx: Any) -> Any:
        """Give ``--help`` a default: without one its absence is "converted", by pydantic."""
        option = super().get_help_option(ctx)  # type: ignore[misc] # Typer's
        if option is not None and option.default is None:
            option.default = False
            option.callback = _show_help
        return option

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        """Write the epilog as it is: it is laid out already."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(inspect.cleandoc(self.epilog) + "\n")

    def _format_parameters(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], COMMON: []}
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined] # Typer's
            if parameter.param_type_name == "argument":
                if not parameter.hidden:
                    sections["Arguments"].append((parameter.metavar, parameter.help))
            elif (record := parameter.get_help_record(ctx)) is not None:
                common = parameter.name == "help" or parameter.rich_help_panel == COMMON
                sections[COMMON if common else "Options"].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _parse_for_completion(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse without converting; as Typer's ``parse_args``, whose values nobody reads here."""
        parser = self.make_parser(ctx)  # type: ignore[attr-defined] # Typer's
        parsed: tuple[dict[str, Any], list[str], Any] = parser.parse_args(args=args)
        values, rest, _order = parsed
        ctx.params.update(values)
        ctx.args = rest
        ctx._opt_prefixes.update(parser._opt_prefixes)  # noqa: SLF001 - as Typer does
        return rest


class Command(_Layout, TyperCommand):
    """A command."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Give ``[OPTIONS] [MARQUEE...]`` for the usage line."""
        pieces = [self.options_metavar] if self.options_metavar else []
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                name = f"{parameter.metavar}{'...' if parameter.nargs == -1 else ''}"
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options, and then what every command takes."""
        self._format_parameters(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; for completion, without converting."""
        if ctx.resilient_parsing:
            return self._parse_for_completion(ctx, args)
        return super().parse_args(ctx, args)


class Group(_Layout, TyperGroup):
    """A group of commands: the program itself, ``lock``, ``config``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands first: they are what somebody looks for here."""
        self.format_commands(ctx, formatter)
        self._format_parameters(ctx, formatter)
