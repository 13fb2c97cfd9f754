"""The compact notation of the case files, and the facts that it stands for."""

from tests.phases.notation.expected import Unlike, compare, shown
from tests.phases.notation.values import FENCE, NOW, NotationError, Tree
from tests.phases.notation.world import view_of

__all__ = [
    "FENCE",
    "NOW",
    "NotationError",
    "Tree",
    "Unlike",
    "compare",
    "shown",
    "view_of",
]
