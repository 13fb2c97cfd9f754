"""The files on this machine that a declared file names: do they exist, do they stay inside.

Nothing is shipped to a Marquee that is not below the Compose file's own folder: a link that leads
out could take a private key along.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from mqctl.config import texts
from mqctl.config.declared import Declared
from mqctl.config.problems import Finding

MAX_FILES = 5_000
MAX_BYTES = 256 << 20


class Unshippable(ValueError):
    """An entry of ``files`` that cannot be shipped; the text says why."""


def locate(text: str, folder: Path, environ: Mapping[str, str]) -> Path:
    """Make a path of the declared file absolute: ``~`` expanded, else relative to its folder."""
    home = environ.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        return Path(home, text[2:])
    return folder / Path(text).expanduser() if text.startswith("~") else folder / text


def shipped(folder: Path, entry: str) -> dict[str, Path]:
    """Expand one entry of ``files`` into the files to ship.

    Args:
        folder: the folder of the Compose file.
        entry: a file or a folder, relative to it, already checked as a text.

    Returns:
        Absolute path by path relative to ``folder``, in order; links are followed as long as they
        stay inside, links to folders are not taken.

    Raises:
        Unshippable: it is missing, leads out, is unreadable, too large, or not made of files.
    """
    _inside(folder / entry, folder, entry)
    found: dict[str, Path] = {}
    size = 0
    for path in _walk(folder / entry):
        relative = path.relative_to(folder).as_posix()
        size += _regular(path, folder, relative).st_size
        found[relative] = path
        if len(found) > MAX_FILES or size > MAX_BYTES:
            limits = f"{MAX_FILES} files of {MAX_BYTES >> 20} MiB together are allowed"
            raise Unshippable(f"too much to ship; {limits}")
    return dict(sorted(found.items()))


def check(declared: Declared, folder: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Give what is wrong with the files that the declared file in ``folder`` names."""
    for name, spec in declared.file.playspecs.items():
        path = ("playspecs", name)
        if spec.compose_file.checkout is None and declared.sound(*path, "compose_file"):
            compose = locate(spec.compose_file.path, folder, environ)
            yield from _compose((*path, "compose_file", "path"), compose)
            for index, entry in declared.texts(*path, "files"):
                try:
                    shipped(compose.parent, texts.inner_path(entry))
                except Unshippable as error:
                    yield Finding((*path, "files", index), str(error))
    for marquee, host in declared.file.marquees.items():
        for name, chat in host.agent_chats.items():
            if chat.compose_file is not None:
                where = ("marquees", marquee, "agent_chats", name, "compose_file")
                yield from _compose(where, locate(chat.compose_file, folder, environ))


def _compose(where: tuple[str, ...], path: Path) -> Iterator[Finding]:
    wrong = _unusable(path)
    if wrong:
        yield Finding(where, wrong)


def _unusable(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "no such file; a path relative to this file is allowed"
    except (OSError, RuntimeError) as error:
        return f"{_reason(error)}; a readable file is allowed"
    if not stat.S_ISREG(mode):
        return "not a file; a Compose file is allowed"
    if not os.access(path, os.R_OK):
        return "no permission to read it; a readable file is allowed"
    return ""


def _walk(start: Path) -> Iterator[Path]:
    """Give ``start``, or all that is below it."""
    try:
        if not start.is_dir():
            yield start
            return
        for directory, folders, files in os.walk(start, onerror=_raise):
            linked = [name for name in folders if Path(directory, name).is_symlink()]
            if linked:
                where = Path(directory, linked[0]).relative_to(start)
                raise Unshippable(f"{where} in it links to a folder; files and links to files only")
            folders.sort()
            yield from (Path(directory, name) for name in sorted(files))
    except OSError as error:
        raise Unshippable(f"{_reason(error)}; readable files are allowed") from None


def _raise(error: OSError) -> None:
    raise error


def _regular(path: Path, folder: Path, relative: str) -> os.stat_result:
    real = _inside(path, folder, relative)
    status = real.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Unshippable(f"{relative} is neither a file nor a folder; those are allowed")
    if not os.access(real, os.R_OK):
        raise Unshippable(f"no permission to read {relative}; readable files are allowed")
    return status


def _inside(path: Path, folder: Path, relative: str) -> Path:
    """Give where ``path`` really is, which must be below ``folder``."""
    try:
        real = path.resolve(strict=True)
        inside = real.is_relative_to(folder.resolve())
    except FileNotFoundError:
        hint = "a link that leads nowhere" if path.is_symlink() else "no such file"
        message = f"{hint}: {relative}; a path relative to the Compose file is allowed"
        raise Unshippable(message) from None
    except (OSError, RuntimeError) as error:
        raise Unshippable(f"{_reason(error)}: {relative}; a readable file is allowed") from None
    if not inside:
        message = f"{relative} leads out of the Compose file's folder; files below it are allowed"
        raise Unshippable(message)
    return real


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else "a loop of links"
    return (text or "cannot be read").lower()
