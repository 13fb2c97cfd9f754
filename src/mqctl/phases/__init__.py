"""The phases of a cycle: what is asked, what is decided (purely), what is done.

Being in a tuple here is being registered.
"""

from __future__ import annotations

from mqctl.phases.base import Phase
from mqctl.phases.branches import BranchesPhase
from mqctl.phases.chats import AgentChatsPhase
from mqctl.phases.git_state import GitStatePhase
from mqctl.phases.images import ImagesPhase
from mqctl.phases.playgrounds import PlaygroundsPhase
from mqctl.phases.sweep import SweepPhase

RECONCILE: tuple[Phase, ...] = (
    GitStatePhase(),
    BranchesPhase(),
    ImagesPhase(),
    PlaygroundsPhase(),
    AgentChatsPhase(),
    SweepPhase(),
)
SWEEP: tuple[Phase, ...] = (SweepPhase(),)
