"""What to do about a reason: the second half of every failed decision.

The keys are the words of :class:`mqctl.phases.reasons.Reason`. A reason that is not here gets the
general advice, so that a new one is never without a next step.
"""

from __future__ import annotations

from mqctl.model import Decision

_CHECKOUT = "look at that checkout on the host: git status, git fsck"
_REMOTE = "check repository_url, credentials and known_hosts_file of the Prop"
_LOGS = "read its log on the host: docker compose logs; the next cycle looks again"

_ADVICE = {
    "foreign": "another project has this name: rename the Playground, or remove that project",
    "port-taken": "free the port on the host, or publish another one in the Compose file",
    "name-taken": "remove the other container, or change container_name in the Compose file",
    "foreign-files": "move what is not mqctl's out of the directory, then run again",
    "dirty": "commit and push (or discard) the work in that checkout; mqctl never touches it",
    "failing": "correct what the message names; new input is tried at once",
    "image-failed": "the image could not be pulled: check its name and the registry's credentials",
    "pull-failed": "check the image's name, and the registry's credentials in the file",
    "remote-failed": _REMOTE,
    "branch-gone": "the declared branch is not on the remote: correct it in the file, or push it",
    "broken": _CHECKOUT,
    "detached": _CHECKOUT,
    "diverged": "both sides have commits: push or reset the checkout on the host",
    "ahead": "push the checkout's commits; until then it is left alone",
    "disk-full": "make room on the host: docker system df",
    "not-proven": "it may not be mqctl's: if it is, remove it by hand",
    "crash-loop": _LOGS,
    "unhealthy": _LOGS,
    "timed-out": "raise command_timeout or apply_timeout in the policy, if the host needs so long",
    "unknown": "it could not be observed, so nothing was changed; the next cycle looks again",
    "on-hold": "take hold: true out of the file, or the file .mqctl/hold off the host",
    "too-many": "look at the list: mqctl sweep {marquee}; if it is right, add --allow-many there",
    "nothing-declared": "if it shall be emptied: mqctl sweep {marquee} --allow-empty",
    "plan-grew": "more would go than you agreed to: run mqctl sweep again and look at the list",
}


def advice(marquee: str, decision: Decision) -> str:
    """Give the next step for a decision that failed, one line."""
    known = _ADVICE.get(decision.reason)
    if known is not None:
        return known.format(marquee=marquee)
    return f"look closer with mqctl reconcile {marquee} --verbose; before: mqctl history {marquee}"
