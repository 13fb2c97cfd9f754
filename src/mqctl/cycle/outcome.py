"""Which outcome and exit status a cycle has: one table from how it ended. Pure."""

from __future__ import annotations

from dataclasses import replace

from mqctl.errors import Cancelled, ExitCode, Held, LockLost, MqctlError, Refused, Unreachable
from mqctl.model import (
    CycleReport,
    Decision,
    ErrorReport,
    Outcome,
    PhaseOutcome,
    Result,
    Verb,
)

_ENDS: tuple[tuple[type[BaseException], Outcome], ...] = (
    (Held, Outcome.HELD),
    (LockLost, Outcome.LOST),
    (Cancelled, Outcome.INTERRUPTED),
    (Unreachable, Outcome.UNREACHABLE),
    (Refused, Outcome.REFUSED),
    (MqctlError, Outcome.FAILED),
)
_IDLE = {Verb.NONE, Verb.SKIP, Verb.PARK}


def report_of(
    bare: CycleReport,
    ended: BaseException | None,
    *,
    launchable: bool = True,
    held_ok: bool = False,
) -> CycleReport:
    """Complete a report with its outcome, exit status and error.

    Args:
        bare: what happened.
        ended: what ended the cycle early, if anything did.
        launchable: whether it could run at all.
        held_ok: a lock that somebody else holds is no failure.
    """
    if not launchable:
        why = "its status is disabled, or it has no host or no user"
        return replace(bare, outcome=Outcome.NOT_LAUNCHABLE, reason=why)
    for kind, outcome in _ENDS:
        if isinstance(ended, kind):
            error = _error(ended)
            code = ExitCode.OK if held_ok and outcome is Outcome.HELD else error.code
            return replace(bare, outcome=outcome, error=error, exit_code=code)
    outcome = _outcome(bare)
    code = ExitCode.FAILED if outcome is Outcome.FAILED else ExitCode.OK
    return replace(bare, outcome=outcome, exit_code=code)


def changes(decision: Decision) -> bool:
    """Whether a decision changed something on the host."""
    return decision.result is Result.DONE and decision.action not in _IDLE


def _outcome(report: CycleReport) -> Outcome:
    failed = any(one.outcome is PhaseOutcome.FAILED for one in report.phases)
    if failed or any(one.result is Result.FAILED for one in report.decisions):
        return Outcome.FAILED
    if any(one.result is Result.PLANNED for one in report.decisions):
        return Outcome.PLANNED
    changed = any(changes(one) for one in report.decisions)
    return Outcome.CHANGED if changed else Outcome.UNCHANGED


def _error(ended: BaseException | None) -> ErrorReport:
    match ended:
        case LockLost(why=why):
            fix = "if Redis did not answer, see to it; else `mqctl history` tells who took the lock"
            return ErrorReport(ExitCode.LOST, "the lock was lost; the cycle ended", why, fix)
        case Cancelled(status=status):
            return ErrorReport(status, f"interrupted by {status.name}", "", "run again")
        case MqctlError(what=what, why=why, fix=fix):
            return ErrorReport(ended.code, what, why, fix)
    return ErrorReport(ExitCode.BUG, str(ended))
