"""Repairs that bring no new input: restart what is stuck, stop, note what healed by itself."""

from __future__ import annotations

from dataclasses import replace

from mqctl.host import record
from mqctl.host.record import Record
from mqctl.host.scripts import script
from mqctl.model import Decision, Result
from mqctl.phases.apply import finish, job_of, stopped
from mqctl.phases.base import Action, Hands, decided
from mqctl.phases.projects import Project
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import chosen
from mqctl.phases.verify import look, verify

RESTART = script("compose_restart", "private", "unblock", "compose")
STOP = script("docker_stop")


def restart(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """Bring stuck services back: unpause, remove leftovers, recreate."""
    job = job_of(phase, action, project, hands)
    services = chosen(job.staged.services)
    known = [name for name in action.services if name in services]
    env = {"env": job.inputs.env_file()}
    done = job.run("restart", RESTART, *job.place, job.blocking, *known, files=env)
    if ended := stopped(job, "restart", done, final=False):
        return ended
    verdict = verify(project, services, hands)
    before = job.record.applied
    if before is not None and before.digest == job.staged.digest:
        # Nothing else was started: a service that somebody stopped looks like a one-shot now.
        verdict = replace(verdict, one_shots=before.one_shots)
    return finish(job, verdict)


def heal(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """What had failed its verification runs well now: record it as applied."""
    job = job_of(phase, action, project, hands)
    verdict = verify(project, chosen(job.staged.services), hands)
    if verdict.reason is not None:
        return decided(phase, action.subject, Reason.FAILING, verdict.detail, result=Result.FAILED)
    return finish(job, verdict)


def stop(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """Stop what is up, as declared; containers and volumes stay."""
    seen = hands.view.facts.project(project.name)
    up = [one.id for one in hands.view.facts.of_project(project.name) if one.up]
    kept = seen.record or Record(salt=hands.fresh_salt())
    # Noted first: if we are interrupted, what exits now must not be taken for drift later.
    hands.put(
        "record",
        {f"{project.directory}/{record.RECORD}": record.dump(replace(kept, stopped=True))},
        subject=action.subject,
    )
    limit = hands.view.marquee.policy.command_timeout
    done = hands.mutate("stop", STOP, project.name, *up, subject=action.subject, limit=limit)
    if done.timed_out or done.status != 0:
        return action.decided(phase, Result.FAILED, detail=done.last_words)
    still = [one.name for one in look(project.name, hands) if one.up]
    if still:
        return action.decided(phase, Result.FAILED, detail=f"{still[0]} is still up")
    return action.decided(phase, Result.DONE)
