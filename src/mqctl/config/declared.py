"""A declared file as its rules see it: what its types left of it, and the document as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from mqctl.config import nodes
from mqctl.config.nodes import Path
from mqctl.config.types import File


class Declared:
    """What the rules run on.

    Attributes:
        file: the file, with placeholders or defaults where something was found already.
    """

    def __init__(self, file: File, root: nodes.Mapping, broken: Iterable[Path]) -> None:
        self.file = file
        self._root = root
        self._broken = frozenset(path for path in broken if path)
        # Each path that leads to a broken one: asking costs the same however many there are.
        self._above = frozenset(path[:end] for path in self._broken for end in range(len(path) + 1))

    def names(self, *path: str) -> AbstractSet[str]:
        """The keys that the document has at ``path``, whether their values are right or not."""
        return nodes.keys(self._root, path)

    def texts(self, *path: str) -> Iterator[tuple[int, str]]:
        """The items of the list at ``path`` that nothing was found at, with their numbers."""
        found = nodes.follow(self._root, path)
        if found.path == path and isinstance(found.node, nodes.Listing):
            for index, node in enumerate(found.node.items):
                if isinstance(node, nodes.Scalar) and self.sound(*path, index):
                    yield index, node.text

    def sound(self, *path: str | int) -> bool:
        """Whether nothing was found at ``path``, below it, or at what it is part of."""
        part_of = (path[:end] in self._broken for end in range(1, len(path)))
        return path not in self._above and not any(part_of)
