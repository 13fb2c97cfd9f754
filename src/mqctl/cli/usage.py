"""Typer's complaints about a command line, in the words and the shape of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

import typer

from mqctl.errors import UsageError
from mqctl.report.text import plain

_POSSIBLE = re.compile(r" \(Possible options: (.+)\)$")
_FORMS = ("json", "jsonl")
_COMMON = ("-c", "-o", "-q", "-v", "--config", "--output", "--quiet", "--verbose", "--color")


def as_usage_error(error: typer.TyperException, arguments: Sequence[str]) -> UsageError:
    """Give what Typer found wrong as an error with a next step."""
    message = plain(_POSSIBLE.sub(r"; did you mean \1?", error.format_message()))
    message = message.rstrip(".").replace("Value error, ", "")
    path = _path(error, arguments)
    fix = f"{path} --help"
    if path == "mqctl" and arguments and arguments[0].partition("=")[0] in _COMMON:
        fix = f"options go after the command: mqctl COMMAND {plain(arguments[0])} ..."
    return UsageError(message[:1].lower() + message[1:], fix=fix)


def command_of(error: typer.TyperException, arguments: Sequence[str]) -> str:
    """The command that was being parsed: ``lock break``."""
    return _path(error, arguments).removeprefix("mqctl").strip()


def _path(error: typer.TyperException, arguments: Sequence[str]) -> str:
    context = getattr(error, "ctx", None)
    if context is not None:
        return str(context.command_path)
    # Some complaints come without the command that they are about.
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    return " ".join(("mqctl", *words[: 2 if words[:1] in (["lock"], ["config"]) else 1]))


def guess_output(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """The form of the answer, when the command line could not be parsed."""
    form = environ.get("MQCTL_OUTPUT", "")
    for before, argument in zip(("", *arguments), arguments, strict=False):
        if before in ("-o", "--output"):
            form = argument
        elif argument.startswith("--output="):
            form = argument.partition("=")[2]
        elif argument.startswith("-o"):
            form = argument[2:] or form
    return form if form in _FORMS else "text"
