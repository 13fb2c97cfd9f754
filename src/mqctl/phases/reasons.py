"""Every reason that a decision can give. Silence reads as a bug, so each non-action has one.

The README's table says for each what an operator can do about it; a test compares the two.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """One word in the ``reason`` of a decision."""

    # nothing to do
    CONVERGED = "converged"
    UP_TO_DATE = "up-to-date"
    PRESENT = "present"
    DECLARED_STOPPED = "declared-stopped"
    EXPIRED = "expired"
    HEALED = "healed"
    REVIVED = "revived"
    # something to do
    MISSING = "missing"
    SERVICE_MISSING = "service-missing"
    EXITED = "exited"
    INPUT_CHANGED = "input-changed"
    COMMIT_MOVED = "commit-moved"
    IMAGE_MOVED = "image-moved"
    FILES_CHANGED = "files-changed"
    INTERRUPTED = "interrupted"
    WAS_STOPPED = "was-stopped"
    CRASH_LOOP = "crash-loop"
    UNHEALTHY = "unhealthy"
    PAUSED = "paused"
    NEVER_STARTED = "never-started"
    ORIGIN_CHANGED = "origin-changed"
    BRANCH_CHANGED = "branch-changed"
    BRANCH_MOVED = "branch-moved"
    FORCE_PUSHED = "force-pushed"
    ALWAYS = "always"
    ORPHAN = "orphan"
    ONE_OFF = "one-off"
    LEFTOVER = "leftover"
    # something to do, but not now or not by mqctl
    DIRTY = "dirty"
    COOLDOWN = "cooldown"
    GRACE = "grace"
    BUDGET = "budget"
    UNKNOWN = "unknown"
    ON_HOLD = "on-hold"
    FOREIGN = "foreign"
    FOREIGN_FILES = "foreign-files"
    PORT_TAKEN = "port-taken"
    NAME_TAKEN = "name-taken"
    FAILING = "failing"
    IMAGE_FAILED = "image-failed"
    ABSENT = "absent"
    BEHIND = "behind"
    DISABLED = "disabled"
    BROKEN = "broken"
    DETACHED = "detached"
    AHEAD = "ahead"
    DIVERGED = "diverged"
    NOT_PROVEN = "not-proven"
    DISK_FULL = "disk-full"
    ONE_SHOT_DONE = "one-shot-done"
    # something went wrong
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    REMOTE_FAILED = "remote-failed"
    BRANCH_GONE = "branch-gone"
    PULL_FAILED = "pull-failed"
    # a sweep that will not
    NOTHING_DECLARED = "nothing-declared"
    TOO_MANY = "too-many"
    PLAN_GREW = "plan-grew"
