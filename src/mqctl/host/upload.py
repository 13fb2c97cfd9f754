"""What a *put* carries: files and whole directories, as one tar whose entries are numbered.

The names of the targets are arguments of the guard, which checks them; in the tar, entry ``0`` is
the first target, ``1`` the second. A number is not absolute, not hidden, and links to nothing.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

DIRECTORY_MODE = 0o700


@dataclass(frozen=True, slots=True)
class File:
    """A file's content, and its mode if it is not the private one."""

    content: bytes
    mode: int = 0o600


Content = bytes | File
Target = Content | Mapping[str, Content]


def pack(targets: Mapping[str, Target]) -> bytes:
    """The tar for these targets, in their order. A mapping is a directory, by relative path.

    Raises:
        ValueError: a path inside a directory is absolute, empty, or has a ``..``.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for index, target in enumerate(targets.values()):
            for name, content in _entries(str(index), target):
                _add(tar, name, content)
    return buffer.getvalue()


def _entries(name: str, target: Target) -> Iterator[tuple[str, Content | None]]:
    """Names and contents, parents first; no content is a directory."""
    if isinstance(target, bytes | File):
        yield name, target
        return
    yield name, None
    made: set[str] = set()
    for relative, content in target.items():
        path = PurePosixPath(relative)
        if path.is_absolute() or not path.parts or ".." in path.parts:
            raise ValueError(f"not a path inside a directory: {relative!r}")
        for parent in reversed(path.parents[:-1]):
            if str(parent) not in made:
                made.add(str(parent))
                yield f"{name}/{parent}", None
        yield f"{name}/{path}", content


def _add(tar: tarfile.TarFile, name: str, content: Content | None) -> None:
    info = tarfile.TarInfo(name)
    if content is None:
        info.type, info.mode = tarfile.DIRTYPE, DIRECTORY_MODE
        tar.addfile(info)
        return
    file = content if isinstance(content, File) else File(content)
    info.size, info.mode = len(file.content), file.mode
    tar.addfile(info, io.BytesIO(file.content))
