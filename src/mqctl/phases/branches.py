"""Phase ``branches``: ask the remotes for their tips, move clean checkouts, leave dirty ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqctl.errors import ConfigError
from mqctl.host import git
from mqctl.host.bundle import bundle
from mqctl.host.completed import Completed
from mqctl.host.facts import GitState
from mqctl.host.git import Tips
from mqctl.host.scripts import script
from mqctl.model import Checkout, Decision, Playground, Prop, Result, Verb
from mqctl.phases.base import Action, Hands, Plan, View, decided, one_by_one
from mqctl.phases.git_state import find, remember, subject
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import resting, selected
from mqctl.secret import Secret

NAME = "branches"
TIPS = script("git_tips", "private", "git")
ADVANCE = script("git_advance", "private", "git")
# The exit statuses of git_advance.sh that are not git's own.
_REMOTE_FAILED, _BRANCH_GONE = 69, 66

_MOVES = {
    "fast-forward": (Verb.FAST_FORWARD, Reason.BRANCH_MOVED),
    "reset": (Verb.RESET, Reason.FORCE_PUSHED),
    "switch": (Verb.SWITCH, Reason.BRANCH_CHANGED),
    "none": (Verb.FETCH, Reason.BRANCH_MOVED),
}


class BranchesPhase:
    """See the module."""

    name = NAME
    needs = ("git-state",)

    def prepare(self, hands: Hands) -> None:
        """Ask all remotes for their tips in one guarded command (it uses credentials)."""
        if hands.view.dry_run:
            return
        wanted = _wanted(hands.view)
        if not wanted:
            return
        files: dict[str, str | Secret] = {}
        words: list[str] = []
        tips: dict[str, Tips] = {}
        for number, (prop, branches) in enumerate(wanted.items()):
            try:
                files |= git.credentials(f"r{number}", prop)
            except ConfigError as error:
                tips[prop.name] = Tips(error=error.told)
                continue
            refs = " ".join(f"refs/heads/{branch}" for branch in sorted(branches))
            words += [f"r{number}", prop.repository_url, refs]
        if words:
            done = hands.mutate(
                "ask remotes",
                TIPS,
                *words,
                subject="",
                stdin=bundle(files),
                limit=hands.view.marquee.policy.command_timeout,
            )
            tips = {**_answers(list(wanted), done), **tips}
        hands.view = hands.view.with_tips(tips)

    def plan(self, view: View) -> Plan:
        """One decision a checkout."""
        return [
            _decide(view, playground, checkout)
            for playground in selected(view)
            for checkout in playground.checkouts
        ]

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """Fetch and move, one by one."""
        return one_by_one(NAME, actions, lambda action: _advance(action, hands))


def _wanted(view: View) -> dict[Prop, set[str]]:
    """The branches to ask for by Prop; a Prop is one repository."""
    wanted: dict[Prop, set[str]] = {}
    for playground in selected(view):
        seen = view.facts.project(playground.project).checkouts
        for checkout in playground.checkouts:
            asked = checkout.prop.active and resting(view, playground) is None
            if asked and checkout.name in seen:
                wanted.setdefault(checkout.prop, set()).add(checkout.branch)
    return wanted


def _answers(props: Sequence[Prop], done: Completed) -> dict[str, Tips]:
    answers = git.parse_tips(done.text)
    failed = Tips(error="no answer in time" if done.timed_out else done.last_words)
    return {prop.name: answers.get(f"r{number}", failed) for number, prop in enumerate(props)}


def _decide(view: View, playground: Playground, checkout: Checkout) -> Action | Decision:
    name = subject(playground, checkout)
    state = view.facts.project(playground.project).checkouts.get(checkout.name)
    rest = resting(view, playground)
    if rest is not None:
        return decided(NAME, name, rest)
    if not checkout.prop.active:
        return decided(NAME, name, Reason.DISABLED, f"the prop {checkout.prop.name} is disabled")
    if state is None:
        waits = f"depends on {name}" if view.dry_run else "not cloned"
        return decided(NAME, name, Reason.UNKNOWN, waits)
    if state.error:
        return decided(NAME, name, Reason.BROKEN, state.error)
    tips = view.tips.get(checkout.prop.name)
    if tips is None:
        detail = "depends on the remote, which is asked under the lock only"
        return decided(NAME, name, Reason.UNKNOWN, detail)
    if tips.error:
        return decided(NAME, name, Reason.REMOTE_FAILED, tips.error, result=Result.FAILED)
    tip = tips.branches.get(checkout.branch)
    if tip is None:
        detail = f"the remote has no branch {checkout.branch}"
        return decided(NAME, name, Reason.BRANCH_GONE, detail, result=Result.FAILED)
    return _compare(playground, checkout, state, tip)


def _compare(
    playground: Playground, checkout: Checkout, state: GitState, tip: str
) -> Action | Decision:
    name = subject(playground, checkout)
    where = f"{checkout.branch} at {tip[:12]}"
    if state.head == tip and state.branch == checkout.branch:
        return decided(NAME, name, Reason.UP_TO_DATE, where, verb=Verb.NONE, result=Result.DONE)
    if not checkout.follow:
        detail = f"follow is false; the remote has {where}"
        return decided(NAME, name, Reason.BEHIND, detail, verb=Verb.NONE)
    if state.dirty:
        return decided(NAME, name, Reason.DIRTY, f"{state.describe()}; the remote has {where}")
    verb, reason = _MOVES["fast-forward" if state.branch == checkout.branch else "switch"]
    detail = f"{state.branch or 'detached'} {state.head[:12]} -> {where}"
    return Action(name, verb, reason, detail, git.directory(playground.project, checkout))


def _advance(action: Action, hands: Hands) -> Decision:
    playground, checkout = find(hands.view, action.key)
    files = git.credentials("repo", checkout.prop)
    done = hands.mutate(
        "fetch and move",
        ADVANCE,
        action.key,
        checkout.branch,
        subject=action.subject,
        stdin=bundle(files),
        limit=hands.view.marquee.policy.command_timeout,
    )
    if done.status != 0:
        reasons = {_REMOTE_FAILED: Reason.REMOTE_FAILED, _BRANCH_GONE: Reason.BRANCH_GONE}
        reason = Reason.TIMED_OUT if done.timed_out else reasons.get(done.status, Reason.FAILED)
        return action.decided(
            NAME,
            Result.FAILED,
            reason=reason,
            detail=git.complaint(done),
        )
    states = git.parse_states(done.text)
    remember(hands, playground, states)
    first = done.text.partition("\n")[0]
    if first == "veto dirty":
        detail = next((one.describe() for one in states.values()), "")
        return decided(NAME, action.subject, Reason.DIRTY, detail)
    verb, reason = _MOVES.get(first.removeprefix("moved "), _MOVES["none"])
    return action.decided(NAME, Result.DONE, action=verb, reason=reason)
