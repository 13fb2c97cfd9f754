"""A declared file as its rules see it: what its types left of it, and the document as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mqctl.config import nodes
from mqctl.config.nodes import Path
from mqctl.config.types import File


@dataclass(frozen=True, slots=True)
class Declared:
    """What the rules run on.

    Attributes:
        file: the file, with placeholders or defaults where something was found already.
        root: the document, whole.
        broken: where something was found already.
    """

    file: File
    root: nodes.Mapping
    broken: Collection[Path]

    def names(self, *path: str) -> tuple[str, ...]:
        """The keys that the document has at ``path``, whether their values are right or not."""
        return nodes.keys(self.root, path)

    def texts(self, *path: str) -> Iterator[tuple[int, str]]:
        """The items of the list at ``path`` that nothing was found at, with their numbers."""
        found = nodes.follow(self.root, path)
        if found.path == path and isinstance(found.node, nodes.Listing):
            for index, node in enumerate(found.node.items):
                if isinstance(node, nodes.Scalar) and self.sound(*path, index):
                    yield index, node.text

    def sound(self, *path: str | int) -> bool:
        """Whether nothing was found at ``path``, below it, or at what it is part of."""
        return not any(
            one[: len(path)] == path or path[: len(one)] == one for one in self.broken if one
        )
