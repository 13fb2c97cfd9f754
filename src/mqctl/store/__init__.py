"""Redis, under the rules that a lock needs. Nothing else imports redis-py."""

from mqctl.store.address import Address
from mqctl.store.failures import ACL_COMMANDS, AnswerLost, Garbled, Unfit
from mqctl.store.keys import Keys
from mqctl.store.memory import Memory
from mqctl.store.store import Reply, Store

__all__ = [
    "ACL_COMMANDS",
    "Address",
    "AnswerLost",
    "Garbled",
    "Keys",
    "Memory",
    "Reply",
    "Store",
    "Unfit",
]
