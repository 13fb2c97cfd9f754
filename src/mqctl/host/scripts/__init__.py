"""The shell texts that run on a Marquee, and how they are put together.

They are files of their own, so that shellcheck and an editor see them as what they are. Nothing is
installed on the host: the text travels with each command.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from mqctl.host import docker

_LIBRARIES = {
    "docker": "\n".join(
        f'{name}() {{ {command} "$@" </dev/null; }}'
        for name, command in (
            ("docker_ps", docker.PS),
            ("docker_images", docker.IMAGES),
            ("docker_networks", docker.NETWORKS),
            ("docker_inspect", docker.INSPECT),
        )
    )
}


@cache
def script(name: str, *libraries: str) -> str:
    """The text of ``NAME.sh`` behind the libraries it needs (``lib_LIBRARY.sh``, or ``docker``)."""
    parts = [_LIBRARIES.get(library) or _text(f"lib_{library}.sh") for library in libraries]
    return "\n".join([*parts, _text(f"{name}.sh")])


def _text(file: str) -> str:
    return files(__name__).joinpath(file).read_text(encoding="utf-8")
