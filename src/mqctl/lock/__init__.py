"""The one lock module: who holds a Marquee, proven before every step."""

from mqctl.lock.acquiring import HeldBy, acquire
from mqctl.lock.breaking import Broken, break_lock, look
from mqctl.lock.lease import Lease, Released, margin
from mqctl.lock.owner import Machine, Owner, proven_dead
from mqctl.lock.status import LockStatus, State, status

__all__ = [
    "Broken",
    "HeldBy",
    "Lease",
    "LockStatus",
    "Machine",
    "Owner",
    "Released",
    "State",
    "acquire",
    "break_lock",
    "look",
    "margin",
    "proven_dead",
    "status",
]
