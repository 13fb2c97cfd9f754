"""Names on the command line: which Marquees, phases and Playgrounds are meant.

An unknown name is a usage error that says what was probably meant and what there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from mqctl.errors import UsageError
from mqctl.model import Fleet, Marquee
from mqctl.report.text import plain

_LISTED = 30


def select(fleet: Fleet, named: Sequence[str], *, every: bool, command: str) -> tuple[str, ...]:
    """Give the names to work on: those given, or with ``--all`` every launchable one.

    Raises:
        UsageError: neither or both was given, or a name is not declared.
    """
    if named and every:
        raise UsageError(
            "both MARQUEE and --all were given",
            why="--all means every launchable Marquee",
            fix=f"leave one of the two out; mqctl {command} --help",
        )
    if not named and not every:
        raise UsageError(
            "neither MARQUEE nor --all was given",
            why=f"declared: {listed(one.name for one in fleet.marquees)}",
            fix=f"mqctl {command} MARQUEE..., or mqctl {command} --all",
        )
    if every:
        return tuple(one.name for one in fleet.marquees if one.launchable)
    return known(fleet, named)


def known(fleet: Fleet, named: Sequence[str]) -> tuple[str, ...]:
    """Check that each name is declared; give each once, in the given order.

    Raises:
        UsageError: one is not.
    """
    for name in named:
        marquee_of(fleet, name)
    return tuple(dict.fromkeys(named))


def marquee_of(fleet: Fleet, name: str) -> Marquee:
    """Give the Marquee of that name.

    Raises:
        UsageError: there is none.
    """
    marquee = fleet.marquee(name)
    if marquee is None:
        raise unknown("Marquee", name, [one.name for one in fleet.marquees])
    return marquee


def playground_of(fleet: Fleet, text: str) -> tuple[str, str]:
    """Read ``MARQUEE/NAME``.

    Raises:
        UsageError: it has another form, or is not declared.
    """
    marquee_name, slash, name = text.partition("/")
    if not slash or not name or "/" in name:
        raise UsageError(
            f"invalid value for --playground: {plain(text)}",
            why="a Playground is named with its Marquee",
            fix="--playground MARQUEE/NAME",
        )
    marquee = marquee_of(fleet, marquee_name)
    names = [one.name for one in marquee.playgrounds]
    if name not in names:
        raise unknown(f"Playground of {marquee_name}", name, names)
    return marquee_name, name


def unknown(kind: str, name: str, there: Sequence[str]) -> UsageError:
    """The error about a name that does not exist."""
    near = get_close_matches(name, there, n=1)
    what = f"no {kind} is called {plain(name)}"
    return UsageError(
        f"{what}; did you mean {near[0]}?" if near else what,
        why=f"declared: {listed(there)}" if there else f"no {kind} is declared",
        fix="use one of these names, or declare it in the file" if there else "declare it first",
    )


def listed(names: Iterable[str]) -> str:
    """Names as a sentence shows them, not endlessly."""
    names = list(names)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "none") + more
