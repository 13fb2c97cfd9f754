"""Phase ``git-state``: clone what is missing, correct ``origin``, report each checkout's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mqctl.host import git, record
from mqctl.host.bundle import bundle
from mqctl.host.facts import CheckoutState, GitState
from mqctl.host.scripts import script
from mqctl.model import Checkout, Decision, Playground, Result, Verb
from mqctl.phases.base import Action, Hands, Plan, View, decided, one_by_one
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import resting, selected

NAME = "git-state"
CLONE = script("git_clone", "private", "git")
ORIGIN = script("git_origin", "git")
_IN_THE_WAY = 73  # the exit status of git_clone.sh


class GitStatePhase:
    """See the module."""

    name = NAME
    needs: tuple[str, ...] = ()

    def prepare(self, hands: Hands) -> None:
        """The first look has told all."""

    def plan(self, view: View) -> Plan:
        """One decision a checkout."""
        return [
            _decide(view, playground, checkout)
            for playground in selected(view)
            for checkout in playground.checkouts
        ]

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """Clone or correct, one by one."""

        def perform(action: Action) -> Decision:
            do = _clone if action.verb is Verb.CLONE else _correct_origin
            return do(action, *find(hands.view, action.key), hands)

        return one_by_one(NAME, actions, perform)


def subject(playground: Playground, checkout: Checkout) -> str:
    """``checkout/PLAYGROUND/NAME``."""
    return f"checkout/{playground.name}/{checkout.name}"


def find(view: View, key: str) -> tuple[Playground, Checkout]:
    """The declared checkout behind an action's key."""
    for playground in view.marquee.playgrounds:
        for checkout in playground.checkouts:
            if git.directory(playground.project, checkout) == key:
                return playground, checkout
    raise KeyError(key)


def classify(state: GitState) -> CheckoutState:
    """The one word for a checkout; the first that applies."""
    if state.error:
        return CheckoutState.BROKEN
    if state.ahead and state.behind:
        return CheckoutState.DIVERGED
    if state.dirty:
        return (
            CheckoutState.AHEAD if state.local_commits == _findings(state) else CheckoutState.DIRTY
        )
    if not state.branch:
        return CheckoutState.DETACHED
    return CheckoutState.BEHIND if state.behind else CheckoutState.CLEAN


def _findings(state: GitState) -> int:
    return state.changes + state.local_commits + state.hidden + bool(state.operation)


_REASONS = {
    CheckoutState.CLEAN: Reason.UP_TO_DATE,
    CheckoutState.BEHIND: Reason.BEHIND,
    CheckoutState.DETACHED: Reason.DETACHED,
    CheckoutState.AHEAD: Reason.AHEAD,
    CheckoutState.DIVERGED: Reason.DIVERGED,
    CheckoutState.DIRTY: Reason.DIRTY,
    CheckoutState.BROKEN: Reason.BROKEN,
}


def _decide(view: View, playground: Playground, checkout: Checkout) -> Action | Decision:
    name = subject(playground, checkout)
    project = view.facts.project(playground.project)
    state = project.checkouts.get(checkout.name)
    rest = resting(view, playground)
    key = git.directory(playground.project, checkout)
    if state is None:
        if rest is not None:
            return decided(NAME, name, rest, "not cloned")
        if not checkout.prop.active:
            return decided(
                NAME, name, Reason.DISABLED, f"the prop {checkout.prop.name} is disabled"
            )
        return Action(name, Verb.CLONE, Reason.MISSING, f"branch {checkout.branch}", key)
    if not state.error and state.origin != checkout.prop.repository_url and rest is None:
        detail = f"origin was {state.origin or 'not set'}"
        return Action(name, Verb.FETCH, Reason.ORIGIN_CHANGED, detail, key)
    word = classify(state)
    detail = state.describe() or (f"{state.branch or 'detached'} at {state.head[:12]}")
    if word is CheckoutState.BROKEN:
        return decided(NAME, name, Reason.BROKEN, detail, result=Result.FAILED)
    if word is CheckoutState.CLEAN:
        return decided(NAME, name, _REASONS[word], detail, verb=Verb.NONE, result=Result.DONE)
    return decided(NAME, name, _REASONS[word], detail, verb=Verb.NONE)


def remember(hands: Hands, playground: Playground, states: Mapping[str, GitState]) -> None:
    """Keep what a command printed of a project's checkouts in the facts."""
    project = hands.view.facts.project(playground.project)
    prefix = git.directory(playground.project, "")
    fresh = {path.removeprefix(prefix): state for path, state in states.items()}
    seen = replace(
        project,
        checkouts={**project.checkouts, **fresh},
        entries=project.entries | fresh.keys() | {".mqctl"},
        marker=project.marker or hands.view.marker(playground.project),
    )
    hands.view = replace(hands.view, facts=hands.view.facts.with_project(seen))


def _clone(action: Action, playground: Playground, checkout: Checkout, hands: Hands) -> Decision:
    files = git.credentials("repo", checkout.prop)
    done = hands.mutate(
        "clone",
        CLONE,
        playground.project,
        record.dump(hands.view.marker(playground.project)).decode(),
        checkout.name,
        checkout.prop.repository_url,
        checkout.branch,
        subject=action.subject,
        stdin=bundle(files),
        limit=hands.view.marquee.policy.command_timeout,
    )
    if done.status != 0:
        # What is in a checkout's place and is no checkout is not mqctl's to move.
        reason = Reason.BROKEN if done.status == _IN_THE_WAY else action.reason
        detail = git.complaint(done)
        return action.decided(NAME, Result.FAILED, reason=reason, detail=detail)
    states = git.parse_states(done.text)
    remember(hands, playground, states)
    state = next(iter(states.values()), GitState(error="not seen after the clone"))
    return action.decided(NAME, Result.DONE, detail=f"{checkout.branch} at {state.head[:12]}")


def _correct_origin(
    action: Action, playground: Playground, checkout: Checkout, hands: Hands
) -> Decision:
    done = hands.mutate(
        "set origin",
        ORIGIN,
        action.key,
        checkout.prop.repository_url,
        checkout.branch,
        subject=action.subject,
        limit=hands.view.marquee.policy.command_timeout,
    )
    if done.status != 0:
        return action.decided(NAME, Result.FAILED, detail=git.complaint(done))
    remember(hands, playground, git.parse_states(done.text))
    return action.decided(NAME, Result.DONE)
