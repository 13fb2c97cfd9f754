"""The files that travel with one guarded command, on its standard input.

The host-side half is ``scripts/lib_private.sh``: it writes them into a directory of their own that
is gone when the command ends. Secrets are revealed here, where they are written, not before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mqctl.secret import Secret

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def bundle(files: Mapping[str, str | Secret]) -> bytes:
    """Frame text files by their number of lines.

    Raises:
        ValueError: a name is not a plain file name, or a text holds a NUL.
    """
    parts = []
    for name, content in files.items():
        text = content.reveal() if isinstance(content, Secret) else content
        if not _NAME.match(name) or "\0" in text:
            raise ValueError(f"not a text file that can travel: {name}")
        lines = text.removesuffix("\n").split("\n") if text else []
        parts.append(f"{name} {len(lines)}\n" + "".join(f"{line}\n" for line in lines))
    return "".join(parts).encode()
