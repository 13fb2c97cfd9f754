"""The words that all reports share: who holds a lock, how a cycle ended, what to do now.

Everything here is a pure function from values to text that is safe to print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from mqctl.errors import ExitCode
from mqctl.model import (
    CycleReport,
    Decision,
    ErrorReport,
    Holder,
    Outcome,
    Result,
    RunReport,
    Verb,
)
from mqctl.report.text import count, moment, parse_time, plain, plain_lines, rough, seconds

TALLY_KEYS = (
    "evaluated",
    "applied",
    "rolled_out",
    "pulled",
    "pulls_failed",
    "skipped",
    "recovered",
    "expired",
    "parked",
    "removed",
    "failed",
)

# What a decision that was carried out counts as.
_DONE_AS = {
    Verb.UP: "applied",
    Verb.START: "applied",
    Verb.REDEPLOY: "applied",
    Verb.STOP: "applied",
    Verb.ROLLOUT: "rolled_out",
    Verb.PULL: "pulled",
    Verb.RECOVER: "recovered",
    Verb.RESTART: "recovered",
    Verb.EXPIRE: "expired",
    Verb.REMOVE: "removed",
}
_DECLARED = ("playground/", "agent-chat/")


def tally(decisions: Iterable[Decision]) -> dict[str, int]:
    """Count decisions as the JSON document shows them.

    ``evaluated`` counts the Playgrounds and AgentChats that were decided about; ``recovered`` is
    ``recover`` and ``restart``; ``applied`` is ``up``, ``start``, ``redeploy`` and ``stop``; only
    what was carried out counts, so a dry run has zeros there.
    """
    counts = dict.fromkeys(TALLY_KEYS, 0)
    declared = set()
    for decision in decisions:
        if decision.subject.startswith(_DECLARED):
            declared.add(decision.subject)
        if decision.result is Result.FAILED:
            counts["failed"] += 1
            counts["pulls_failed"] += decision.action is Verb.PULL
        elif decision.result is Result.DONE and decision.action in _DONE_AS:
            counts[_DONE_AS[decision.action]] += 1
        elif decision.action is Verb.PARK:
            counts["parked"] += 1
        elif decision.result is Result.SKIPPED and decision.action is not Verb.NONE:
            counts["skipped"] += 1
    counts["evaluated"] = len(declared)
    return counts


def is_quiet(decision: Decision) -> bool:
    """Whether a decision asks nobody for anything: shown in logs, not at a terminal."""
    return decision.action is Verb.NONE and decision.result is not Result.FAILED


def holder_name(holder: Holder) -> str:
    """Who holds a lock: ``deploy@ci-7 (pid 4711)``, or the token when nothing else is known."""
    if not holder.host and not holder.user:
        return f"an unknown client (token {plain(holder.token)[:8]}...)"
    name = plain("@".join(part for part in (holder.user, holder.host) if part))
    return f"{name} (pid {holder.pid})" if holder.pid is not None else name


def holder_times(holder: Holder, now: datetime) -> str:
    """Since when and until when, and in which phase, as far as the holder wrote it."""
    parts = []
    since = parse_time(holder.acquired_at)
    if since is not None:
        parts.append(f"since {moment(since, now)} ({rough((now - since).total_seconds())} ago)")
    if holder.ttl_ms is not None and holder.ttl_ms >= 0:
        until = now + timedelta(milliseconds=holder.ttl_ms)
        parts.append(f"until {moment(until, now)} unless renewed")
    if holder.phase:
        parts.append(f"in phase {plain(holder.phase)}")
    return ", ".join(parts)


def held(cycle: CycleReport, holder: Holder, now: datetime) -> ErrorReport:
    """A taken lock as a problem: who has it, since when, and the two next steps."""
    parts = [holder_times(holder, now)]
    if holder.command:
        parts.append(f"it runs: {plain(holder.command)}")
    return ErrorReport(
        cycle.exit_code,
        f"{cycle.marquee} is held by {holder_name(holder)}",
        "; ".join(part for part in parts if part),
        f"wait for it: mqctl reconcile {cycle.marquee} --wait 10m\n"
        f"or, if that process is dead: mqctl lock break {cycle.marquee}",
    )


def problem_lines(problem: ErrorReport) -> list[str]:
    """A failure as it is printed on standard error."""
    first, *more = plain_lines(problem.what) or ["failed"]
    lines = [f"mqctl: error: {first}", *more]
    for label, text in (("why", problem.why), ("fix", problem.fix)):
        for index, line in enumerate(plain_lines(text)):
            lines.append(f"  {label}: {line}" if index == 0 else f"       {line}")
    return lines


_OUTCOME_WORDS = {
    Outcome.UNCHANGED: "as declared, nothing to do",
    Outcome.NOT_LAUNCHABLE: "not launchable, left alone",
    Outcome.HELD: "somebody else works on it",
    Outcome.LOST: "the lock was lost, the cycle was aborted",
    Outcome.UNREACHABLE: "cannot be reached, nothing was changed",
    Outcome.REFUSED: "refused",
    Outcome.INTERRUPTED: "interrupted; the next reconcile begins with it",
}


def cycle_sentence(cycle: CycleReport) -> str:
    """What a cycle came to, in a few words: ``1 up, 2 pull; 3 as declared``."""
    parts = [_OUTCOME_WORDS.get(cycle.outcome, "")]
    if cycle.reason not in (None, "", cycle.outcome.value):
        parts = [plain(cycle.reason or "")]
    # "Nothing to do" must not hide what would be done, were it not for grace or dirty work.
    waits = any(not is_quiet(one) for one in cycle.decisions)
    if cycle.outcome is Outcome.UNCHANGED and waits:
        parts = [_counted(cycle.decisions)]
    elif cycle.decisions and cycle.outcome is not Outcome.UNCHANGED:
        parts.append(_counted(cycle.decisions))
    return "; ".join(part for part in parts if part)


def _counted(decisions: Iterable[Decision]) -> str:
    """``1 up, 2 pull planned, 1 rollout failed, 1 skip (grace), 3 as declared``."""
    counts: Counter[str] = Counter()
    quiet = 0
    for decision in decisions:
        if is_quiet(decision):
            quiet += decision.result is Result.DONE
        elif decision.result is Result.SKIPPED:
            counts[f"{decision.action.value} ({plain(decision.reason)})"] += 1
        elif decision.result is Result.DONE:
            counts[decision.action.value] += 1
        else:
            counts[f"{decision.action.value} {decision.result.value}"] += 1
    parts = [f"{number} {what}" for what, number in counts.items()]
    if quiet:
        parts.append(f"{quiet} as declared")
    return ", ".join(parts)


def run_sentence(report: RunReport, *, dry_run: bool = False) -> str:
    """The last line of a run over several Marquees: ``3 Marquees: 1 changed, 2 unchanged``."""
    outcomes = Counter(cycle.outcome.value for cycle in report.cycles)
    listed = ", ".join(f"{number} {name}" for name, number in sorted(outcomes.items()))
    sentence = f"{count(len(report.cycles), 'Marquee')}: {listed}"
    return f"{sentence} (dry run: nothing was changed)" if dry_run else sentence


def of_marquee(cycle: CycleReport, problem: ErrorReport) -> ErrorReport:
    """A cycle's problem with the Marquee's name in it: several may have the same."""
    if cycle.marquee in problem.what:
        return problem
    return replace(problem, what=f"{cycle.marquee}: {problem.what}")


def failures(cycle: CycleReport) -> list[Decision]:
    """The decisions of a cycle that failed."""
    return [decision for decision in cycle.decisions if decision.result is Result.FAILED]


def failure_text(decision: Decision) -> str:
    """One failed decision: ``rollout playground/demo: build-failed: exit status 1``."""
    text = f"{decision.action.value} {plain(decision.subject)}: {plain(decision.reason)}"
    return f"{text}: {plain(decision.detail)}" if decision.detail else text


def severest_problem(report: RunReport) -> ErrorReport | None:
    """The error of the cycle that decided the exit status, if there is one."""
    for cycle in report.cycles:
        if cycle.error is not None and cycle.exit_code == report.exit_code != ExitCode.OK:
            return cycle.error
    return None


def cycle_duration(cycle: CycleReport) -> str:
    """How long a cycle took."""
    return seconds(cycle.duration_s)
