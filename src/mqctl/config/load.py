"""Read a declared file: all of it, or all that is wrong with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mqctl.config import files, positions, rules, urls
from mqctl.config.build import build
from mqctl.config.declared import Declared
from mqctl.config.nodes import Mapping as Root
from mqctl.config.nodes import Path as Keys
from mqctl.config.nodes import follow
from mqctl.config.problems import About, ConfigErrors, Finding, Problem, shown_path
from mqctl.config.salvage import check_types
from mqctl.config.types import File
from mqctl.model import Fleet

REDIS_VARIABLE = "MQCTL_REDIS_URL"


def load(path: str | os.PathLike[str], environ: Mapping[str, str] | None = None) -> Fleet:
    """Read the declared file at ``path``.

    Args:
        path: the file; paths in it start in its folder.
        environ: for ``MQCTL_REDIS_URL``, ``HOME`` and ``CREDENTIALS_DIRECTORY``; the process's own
            environment if not given. No secret is read.

    Raises:
        ConfigErrors: everything that is wrong with it; ``problems`` has one item each.
    """
    environ = os.environ if environ is None else environ
    shown = os.fspath(path)
    try:
        document = positions.parse(_read(shown))
    except positions.Mistake as mistake:
        raise ConfigErrors(shown, [_at(shown, mistake)]) from None
    root = document.root
    source = Path(shown).absolute()
    checked = check_types(root.plain())
    problems = [_at(shown, mistake) for mistake in document.mistakes]
    problems += _placed(shown, root, checked.findings)
    problems += _environment(environ)
    if checked.file is not None:
        declared = Declared(checked.file, root, {_broken(root, one) for one in checked.findings})
        problems += _placed(shown, root, _redis(declared, environ))
        problems += _placed(shown, root, rules.check(declared))
        problems += _placed(shown, root, files.check(declared, source.parent, environ))
    if problems or checked.file is None:
        raise ConfigErrors(shown, problems)
    return build(checked.file, source, _redis_url(checked.file, environ), environ)


def _read(path: str) -> bytes:
    """Read a regular file, and not more of it than is allowed."""
    try:
        # A FIFO would block, and could not be read a second time when the lock is taken.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                message = "not a regular file; it is read again once the lock is taken"
                raise ConfigErrors(path, [Problem(path, 0, 0, "", message)])
            return file.read(positions.MAX_BYTES + 1)
    except OSError as error:
        message = (
            f"cannot be read: {(error.strerror or 'unknown').lower()}; a readable file is needed"
        )
        raise ConfigErrors(path, [Problem(path, 0, 0, "", message)]) from None


def _at(file: str, mistake: positions.Mistake) -> Problem:
    return Problem(file, *mistake.spot, shown_path(mistake.path), mistake.text)


def _placed(file: str, root: Root, findings: Iterable[Finding]) -> Iterator[Problem]:
    """Give each finding the line and column of the nearest thing that the file has."""
    for one in findings:
        found = follow(root, one.path)
        path, spot = found.path, found.value
        if one.about is About.KEY:
            spot = found.key
        elif one.about is About.MISSING:
            path, spot = one.path, found.key
        yield Problem(file, *spot, shown_path(path), one.message)


def _broken(root: Root, one: Finding) -> Keys:
    return one.path if one.about is About.MISSING else follow(root, one.path).path


def _redis(declared: Declared, environ: Mapping[str, str]) -> Iterator[Finding]:
    given = declared.file.redis.url is not None or environ.get(REDIS_VARIABLE)
    if not given and declared.sound("redis", "url"):
        message = f"missing; where the locks live, such as redis://HOST:6379/0, or {REDIS_VARIABLE}"
        yield Finding(("redis", "url"), message, About.MISSING)


def _environment(environ: Mapping[str, str]) -> Iterator[Problem]:
    url = environ.get(REDIS_VARIABLE)
    if url:
        try:
            urls.redis_url(url)
        except ValueError as error:
            yield Problem("environment", 0, 0, REDIS_VARIABLE, str(error))


def _redis_url(file: File, environ: Mapping[str, str]) -> str:
    return environ.get(REDIS_VARIABLE) or file.redis.url or urls.EMBEDDED
