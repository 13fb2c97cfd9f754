"""Bring one Compose project to its staged input: begin, build, up, verify, record.

Each step is a guarded command of its own, so the step that failed *is* the class of the failure.
The record says "begun" before the first change: a cycle that dies on the way is noticed by the
next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mqctl.errors import ActionFailed, ConfigError
from mqctl.host import compose, docker, record
from mqctl.host.bundle import bundle
from mqctl.host.completed import Completed
from mqctl.host.record import Applied, Attempt, Failure, Record, Staged
from mqctl.host.scripts import script
from mqctl.host.upload import Content
from mqctl.model import Decision, Result, Verb
from mqctl.phases.base import Action, Hands, decided
from mqctl.phases.images import accounts
from mqctl.phases.inputs import Inputs, watched
from mqctl.phases.projects import Project
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import chosen
from mqctl.phases.verify import Verdict, verify
from mqctl.secret import MASK, Secret

BUILD = script("compose_build", "private", "git", "veto", "next", "compose")
UP = script("compose_up", "private", "git", "veto", "unblock", "next", "networks", "compose")
# Where install_next reads which files of an earlier apply shall go.
GONE = ".mqctl/gone"
DOCKER_GRACE = 10.0  # seconds that `docker stop` waits by itself


@dataclass(frozen=True, slots=True)
class Mode:
    """How far an apply may go.

    ``in_place`` starts what is missing and leaves the rest as it is; ``veto`` asks again, inside
    the guarded script, whether a checkout is dirty; ``build`` builds what is built on the host;
    ``anew`` makes new containers also of what runs as declared, which Compose would leave alone.
    """

    in_place: bool = False
    veto: bool = True
    build: bool = True
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One project that is being applied, and all that it takes."""

    phase: str
    action: Action
    project: Project
    inputs: Inputs
    record: Record
    staged: Staged
    hands: Hands

    @property
    def checkouts(self) -> str:
        """The directories of its checkouts, as the scripts take them."""
        return " ".join(f"{self.project.directory}/{one.name}" for one in self.project.checkouts)

    @property
    def place(self) -> tuple[str, str, str]:
        """Project, Compose's directory and its file, as the scripts take them."""
        directory, layout = self.project.directory, self.project.layout
        return self.project.name, f"{directory}/{layout.directory}", f"{directory}/{layout.file}"

    @property
    def blocking(self) -> str:
        """The ids of containers that keep Compose from its work, as the scripts take them."""
        mine = self.hands.view.facts.of_project(self.project.name)
        return " ".join(one.id for one in mine if one.state in {"paused", "created"})

    def run(
        self, step: str, text: str, *words: str, files: Mapping[str, str | Secret]
    ) -> Completed:
        """Run one guarded command with these files beside it."""
        return self.hands.mutate(
            step,
            text,
            *words,
            subject=self.action.subject,
            stdin=bundle(files),
            limit=self.hands.view.marquee.policy.apply_timeout,
        )


def job_of(phase: str, action: Action, project: Project, hands: Hands) -> Job:
    """Everything for an apply. Raises ActionFailed for a project that was not staged."""
    kept = hands.view.facts.project(project.name).record
    inputs = hands.view.inputs.get(project.name)
    if kept is None or kept.staged is None or inputs is None:
        raise ActionFailed("its input was not staged")
    return Job(phase, action, project, inputs, replace(kept, begun=None), kept.staged, hands)


def apply(phase: str, action: Action, project: Project, mode: Mode, hands: Hands) -> Decision:
    """Carry out an ``up``, ``rollout``, ``recover``, ``start`` or ``redeploy``."""
    job = job_of(phase, action, project, hands)
    _begin(job)
    env = {"env": job.inputs.env_file()}
    services = chosen(job.staged.services)
    if mode.build and any(one.build for one in services.values()):
        try:
            registries = {"docker.json": accounts(set(project.registries))}
        except ConfigError as error:
            return _failed(job, "build", error.told, final=False)
        done = job.run("build", BUILD, *job.place, job.checkouts, files={**env, **registries})
        if ended := stopped(job, "build", done, final=True):
            return ended
    words = ["--no-recreate"] if mode.in_place else ["--remove-orphans"]
    words += ["--force-recreate"] if mode.anew else []
    checkouts = job.checkouts if mode.veto else ""
    done = job.run("up", UP, *job.place, checkouts, job.blocking, *words, files=env)
    if ended := stopped(job, "up", done, final=False):
        return ended
    return finish(job, verify(project, services, hands))


def _begin(job: Job) -> None:
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
            f"{directory}/{record.MARKER}": record.dump(job.hands.view.marker(job.project.name)),
            f"{directory}/{record.NEXT}": tree,
            f"{directory}/{record.RECORD}": record.dump(begun),
            f"{directory}/{record.WATCHED}": watched(job.staged, job.inputs.files),
        },
        subject=job.action.subject,
    )
    _remember(job, begun)


def _stop_grace(job: Job) -> dict[str, bytes]:
    """How long the guard lets the daemon settle after an unclean end; it knows 10 s by itself."""
    records = [one.record for one in job.hands.view.facts.projects.values() if one.record]
    services = [
        service for one in records if one.staged for service in one.staged.services.values()
    ]
    longest = max((one.stop_grace for one in services), default=0.0)
    return {"stop-grace": b"%d\n" % math.ceil(longest)} if longest > DOCKER_GRACE else {}


def _remember(job: Job, kept: Record) -> None:
    view = job.hands.view
    seen = replace(view.facts.project(job.project.name), record=kept)
    job.hands.view = view.with_facts(view.facts.with_project(seen))


def _write(job: Job, kept: Record) -> None:
    job.hands.put(
        "record",
        {f"{job.project.directory}/{record.RECORD}": record.dump(kept)},
        subject=job.action.subject,
    )
    _remember(job, kept)


def stopped(job: Job, step: str, done: Completed, *, final: bool) -> Decision | None:
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


def _failed(job: Job, step: str, message: str, *, final: bool) -> Decision:
    message = MASK(message)  # a log's end may tell a secret, and the record stays on the host
    now = job.hands.now_on_host()
    kept = replace(
        job.record,
        failure=Failure(
            job.staged.digest, step, message[:2000], now, final, _images(job.staged, job.hands)
        ),
        last_attempt_at=now,
        last_repair_at=now,
    )
    _write(job, kept)
    return job.action.decided(job.phase, Result.FAILED, detail=message)


def finish(job: Job, verdict: Verdict) -> Decision:
    """Record the staged input as applied if it was verified, else why not."""
    if verdict.reason is not None:
        return _failed(job, "verify", f"it does not run well: {verdict.detail}", final=False)
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
        images=_images(staged, hands),
        one_shots=verdict.one_shots,
        shipped=tuple(sorted(inputs.files)),
        fence=view.fence or 0,
        at=now,
    )


def _images(staged: Staged, hands: Hands) -> dict[str, str]:
    """The image ids behind the references of the services, as they are now."""
    there = hands.view.facts.images
    return {
        name: there.get(docker.canonical(one.image), "")
        for name, one in staged.services.items()
        if one.image
    }
