"""Bring one Compose project to its staged input: begin, build, up, verify, record.

Each step is a guarded command of its own, so the step that failed *is* the class of the failure.
The record says "begun" before the first change: a cycle that dies on the way is noticed by the
next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mqctl.errors import ConfigError
from mqctl.host import compose, docker, record
from mqctl.host.bundle import bundle
from mqctl.host.record import Applied, Attempt, Failure, Record, Staged
from mqctl.host.scripts import script
from mqctl.host.transport import Completed
from mqctl.host.upload import Content
from mqctl.model import Decision, Result, Verb
from mqctl.phases.base import Action, Hands, decided
from mqctl.phases.images import accounts
from mqctl.phases.inputs import Inputs, watched
from mqctl.phases.projects import Project
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import chosen
from mqctl.phases.verify import Verdict, look, verify
from mqctl.secret import Secret

BUILD = script("compose_build", "private", "git", "veto", "next", "compose")
UP = script("compose_up", "private", "git", "veto", "next", "compose")
RESTART = script("compose_restart", "private", "compose")
STOP = script("docker_stop")
# Where install_next reads which files of an earlier apply shall go.
GONE = ".mqctl/gone"
DOCKER_GRACE = 10.0  # seconds that `docker stop` waits by itself


@dataclass(frozen=True, slots=True)
class Mode:
    """How far an apply may go.

    ``in_place`` starts what is missing and leaves the rest as it is; ``veto`` asks again, inside
    the guarded script, whether a checkout is dirty; ``build`` builds what is built on the host.
    """

    in_place: bool = False
    veto: bool = True
    build: bool = True


@dataclass(frozen=True, slots=True)
class _Job:
    phase: str
    action: Action
    project: Project
    inputs: Inputs
    record: Record
    staged: Staged
    hands: Hands

    @property
    def checkouts(self) -> str:
        return " ".join(f"{self.project.directory}/{one.name}" for one in self.project.checkouts)

    @property
    def place(self) -> tuple[str, str, str]:
        """Project, Compose's directory and its file, as the scripts take them."""
        directory, layout = self.project.directory, self.project.layout
        return self.project.name, f"{directory}/{layout.directory}", f"{directory}/{layout.file}"

    def run(
        self, step: str, text: str, *words: str, files: Mapping[str, str | Secret]
    ) -> Completed:
        return self.hands.mutate(
            step,
            text,
            *words,
            subject=self.action.subject,
            stdin=bundle(files),
            limit=self.hands.view.marquee.policy.apply_timeout,
        )


def apply(phase: str, action: Action, project: Project, mode: Mode, hands: Hands) -> Decision:
    """Carry out an ``up``, ``rollout``, ``recover``, ``start`` or ``redeploy``."""
    seen = hands.view.facts.project(project.name)
    kept = seen.record
    if kept is None or kept.staged is None:
        return action.decided(phase, Result.FAILED, reason=Reason.UNKNOWN, detail="not staged")
    inputs = hands.view.inputs[project.name]
    job = _Job(phase, action, project, inputs, replace(kept, begun=None), kept.staged, hands)
    _begin(job)
    env = {"env": inputs.env_file()}
    services = chosen(kept.staged.services)
    if mode.build and any(one.build for one in services.values()):
        try:
            registries = {"docker.json": accounts(set(project.registries))}
        except ConfigError as error:
            return _failed(job, "build", f"{error.what}: {error.why}", final=False)
        done = job.run("build", BUILD, *job.place, job.checkouts, files={**env, **registries})
        if stopped := _stopped(job, "build", done, final=True):
            return stopped
    words = ["--no-recreate"] if mode.in_place else ["--remove-orphans"]
    done = job.run("up", UP, *job.place, job.checkouts if mode.veto else "", *words, files=env)
    if stopped := _stopped(job, "up", done, final=False):
        return stopped
    return _finish(job, verify(project, services, hands))


def restart(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """Bring stuck services back: unpause, remove leftovers, recreate."""
    kept = hands.view.facts.project(project.name).record
    if kept is None or kept.staged is None:
        return action.decided(phase, Result.FAILED, reason=Reason.UNKNOWN, detail="not staged")
    inputs = hands.view.inputs[project.name]
    job = _Job(phase, action, project, inputs, replace(kept, begun=None), kept.staged, hands)
    services = chosen(kept.staged.services)
    known = [name for name in action.services if name in services]
    blocking = [
        one.id
        for one in hands.view.facts.of_project(project.name)
        if one.state in {"paused", "created"}
    ]
    done = job.run(
        "restart", RESTART, *job.place, *known, "--", *blocking, files={"env": inputs.env_file()}
    )
    if stopped := _stopped(job, "restart", done, final=False):
        return stopped
    return _finish(job, verify(project, services, hands))


def _begin(job: _Job) -> None:
    """Stage all files and say in the record that an apply begins, in one upload."""
    fence = job.hands.view.fence or 0
    now = job.hands.now_on_host()
    begun = replace(
        job.record,
        begun=Attempt(job.staged.digest, fence, now),
        last_attempt_at=now,
        stopped=False,
    )
    used = compose.service_inputs(job.staged.services, job.staged.inputs)
    override = compose.override(job.staged.services, job.staged.networks, job.project.labels, used)
    tree: dict[str, Content] = {**job.inputs.files, record.OVERRIDE: override}
    before = job.record.applied.shipped if job.record.applied else ()
    gone = [path for path in before if path not in job.inputs.files]
    if gone:
        tree[GONE] = "".join(f"{path}\n" for path in gone).encode()
    directory = job.project.directory
    job.hands.put(
        "begin",
        {
            **_stop_grace(job),
            f"{directory}/{record.MARKER}": record.dump(
                record.Marker(
                    job.hands.view.marquee.fleet, job.hands.view.marquee.name, job.project.name
                )
            ),
            f"{directory}/{record.NEXT}": tree,
            f"{directory}/{record.RECORD}": record.dump(begun),
            f"{directory}/{record.WATCHED}": watched(job.staged, job.inputs.files),
        },
        subject=job.action.subject,
    )
    _remember(job, begun)


def _stop_grace(job: _Job) -> dict[str, bytes]:
    """How long the guard lets the daemon settle after an unclean end; it knows 10 s by itself."""
    records = [one.record for one in job.hands.view.facts.projects.values() if one.record]
    services = [
        service for one in records if one.staged for service in one.staged.services.values()
    ]
    longest = max((one.stop_grace for one in services), default=0.0)
    return {"stop-grace": b"%d\n" % math.ceil(longest)} if longest > DOCKER_GRACE else {}


def _remember(job: _Job, kept: Record) -> None:
    view = job.hands.view
    seen = replace(view.facts.project(job.project.name), record=kept)
    job.hands.view = view.with_facts(view.facts.with_project(seen))


def _write(job: _Job, kept: Record) -> None:
    job.hands.put(
        "record",
        {f"{job.project.directory}/{record.RECORD}": record.dump(kept)},
        subject=job.action.subject,
    )
    _remember(job, kept)


def _stopped(job: _Job, step: str, done: Completed, *, final: bool) -> Decision | None:
    """The decision that ends the apply at a step, or None to go on."""
    if done.status == 0 and done.text.startswith("veto dirty"):
        # Nothing was applied; the input stays staged and is looked at again next cycle.
        _write(job, job.record)
        return decided(job.phase, job.action.subject, Reason.DIRTY, "became dirty meanwhile")
    if done.status == 0 and not done.timed_out:
        return None
    if done.timed_out:
        return _failed(job, step, f"{step} did not end in time", final=False)
    return _failed(job, step, f"{step}: {done.last_words}", final=final)


def _failed(job: _Job, step: str, message: str, *, final: bool) -> Decision:
    now = job.hands.now_on_host()
    kept = replace(
        job.record,
        failure=Failure(job.staged.digest, step, message[:2000], now, final),
        last_attempt_at=now,
        last_repair_at=now,
    )
    _write(job, kept)
    return job.action.decided(job.phase, Result.FAILED, detail=message)


def _finish(job: _Job, verdict: Verdict) -> Decision:
    if verdict.reason is not None:
        return _failed(job, "verify", f"{verdict.reason}: {verdict.detail}", final=False)
    now = job.hands.now_on_host()
    kept = job.record
    repair = job.action.verb in {Verb.ROLLOUT, Verb.RESTART, Verb.RECOVER}
    _write(
        job,
        replace(
            kept,
            applied=applied(job.staged, job.inputs, verdict, job.hands, now),
            failure=None,
            first_applied_at=kept.first_applied_at or now,
            last_attempt_at=now,
            last_repair_at=now if repair else kept.last_repair_at,
            stopped=False,
        ),
    )
    return job.action.decided(job.phase, Result.DONE)


def applied(
    staged: Staged,
    inputs: Inputs,
    verdict: Verdict,
    hands: Hands,
    now: float,
) -> Applied:
    """What the record says of an apply that was verified."""
    view = hands.view
    return Applied(
        digest=staged.digest,
        inputs=staged.inputs,
        services=staged.services,
        images={
            name: view.facts.images.get(docker.canonical(one.image), "")
            for name, one in staged.services.items()
            if one.image
        },
        one_shots=verdict.one_shots,
        shipped=tuple(sorted(inputs.files)),
        fence=view.fence or 0,
        at=now,
    )


def heal(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """What had failed its verification runs well now: record it as applied."""
    kept = hands.view.facts.project(project.name).record
    if kept is None or kept.staged is None:
        return action.decided(phase, Result.FAILED, reason=Reason.UNKNOWN, detail="not staged")
    inputs = hands.view.inputs[project.name]
    job = _Job(phase, action, project, inputs, replace(kept, begun=None), kept.staged, hands)
    verdict = verify(project, chosen(kept.staged.services), hands)
    if verdict.reason is not None:
        return decided(phase, action.subject, Reason.FAILING, verdict.detail, result=Result.FAILED)
    return _finish(job, verdict)


def stop(phase: str, action: Action, project: Project, hands: Hands) -> Decision:
    """Stop what is up, as declared; containers and volumes stay."""
    seen = hands.view.facts.project(project.name)
    up = [one.id for one in hands.view.facts.of_project(project.name) if one.up]
    limit = hands.view.marquee.policy.command_timeout
    done = hands.mutate("stop", STOP, project.name, *up, subject=action.subject, limit=limit)
    if done.timed_out or done.status != 0:
        return action.decided(phase, Result.FAILED, detail=done.last_words)
    kept = seen.record or Record(salt=hands.fresh_salt())
    hands.put(
        "record",
        {f"{project.directory}/{record.RECORD}": record.dump(replace(kept, stopped=True))},
        subject=action.subject,
    )
    still = [one.name for one in look(project.name, hands) if one.up]
    if still:
        return action.decided(phase, Result.FAILED, detail=f"{still[0]} is still up")
    return action.decided(phase, Result.DONE)
