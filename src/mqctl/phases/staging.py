"""New input goes to the host once, and Compose resolves it there once.

What Compose made of it (services, images, ports...) is kept in the record, so a cycle that finds
nothing new never starts Compose. A dry run does the same in a temporary folder and keeps nothing.
"""

from __future__ import annotations

import base64
import io
import posixpath
import re
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mqctl.errors import MqctlError
from mqctl.host import compose, record
from mqctl.host.bundle import bundle
from mqctl.host.completed import Completed
from mqctl.host.record import Record, Service, Staged
from mqctl.host.scripts import script
from mqctl.host.upload import Target
from mqctl.phases.base import Hands
from mqctl.phases.inputs import Inputs, digest, gather, references_changed, watched
from mqctl.phases.projects import Project
from mqctl.secret import MASK

RESOLVE = script("compose_resolve", "private", "compose", "resolve")
PREVIEW = script("compose_preview", "compose", "resolve")
HASHES = script("hashes")
_AT_ONCE = 25


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int = 1
    base: str = ""
    config: str = ""
    raw: str = ""
    error: str = "no answer"
    version: str = ""


@dataclass(frozen=True, slots=True)
class _Work:
    """One project whose input is new."""

    project: Project
    inputs: Inputs
    record: Record = field(default_factory=lambda: Record(salt=""))


def stage(projects: Iterable[Project], hands: Hands) -> None:
    """Gather all inputs, and bring the new ones to the host and into the records.

    Whichever phase comes first does it; projects that were staged this cycle are left out.
    """
    inputs: dict[str, Inputs] = {}
    work: list[_Work] = []
    for project in projects:
        if project.name in hands.view.inputs:
            continue
        seen = hands.view.facts.project(project.name)
        kept = seen.record or Record(salt=hands.fresh_salt())
        found = inputs[project.name] = gather(project, seen, kept.salt)
        if found.unknown or found.error or seen.broken:
            continue
        staged = kept.staged
        if staged is None or staged.base != found.base or references_changed(staged, seen):
            work.append(_Work(project, found, kept))
    hands.view = replace(hands.view, inputs={**hands.view.inputs, **inputs})
    # A command line has its limits: two hundred new Playgrounds do not fit into one.
    for start in range(0, len(work), _AT_ONCE):
        part = work[start : start + _AT_ONCE]
        _keep(_resolve(part, hands), part, hands)


def _resolve(work: Sequence[_Work], hands: Hands) -> dict[str, _Answer]:
    words = [
        word
        for one in work
        for word in (
            one.project.name,
            "staged" if one.inputs.files else "live",
            f"{one.project.directory}/{record.NEXT}"
            if one.inputs.files
            else f"{one.project.directory}/{one.project.layout.directory}",
            f"{one.project.directory}/{record.NEXT}/{one.project.layout.file}"
            if one.inputs.files
            else f"{one.project.directory}/{one.project.layout.file}",
            " ".join(checkout.name for checkout in one.project.checkouts),
        )
    ]
    env = {f"{one.project.name}.env": one.inputs.env_file() for one in work}
    if hands.view.dry_run:
        return _answers(hands.read(PREVIEW, *words, stdin=_tar(work, env)))
    targets: dict[str, Target] = {}
    for one in work:
        targets[f"{one.project.directory}/{record.MARKER}"] = record.dump(
            hands.view.marker(one.project.name)
        )
        if one.inputs.files:
            targets[f"{one.project.directory}/{record.NEXT}"] = one.inputs.files
    hands.put("stage", targets, subject=_subject(work))
    limit = hands.view.marquee.policy.command_timeout
    return _answers(
        hands.mutate(
            "validate", RESOLVE, *words, subject=_subject(work), stdin=bundle(env), limit=limit
        )
    )


def _subject(work: Sequence[_Work]) -> str:
    return work[0].project.subject if len(work) == 1 else f"{len(work)} projects"


def _tar(work: Sequence[_Work], env: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        contents = {name: text.encode() for name, text in env.items()}
        for one in work:
            for path, file in one.inputs.files.items():
                contents[f"{one.project.directory}/{record.NEXT}/{path}"] = file.content
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o600
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _answers(done: Completed) -> dict[str, _Answer]:
    found: dict[str, _Answer] = {}
    name = section = version = ""
    parts: dict[str, list[str]] = {}

    def close() -> None:
        if name:
            config, raw, error = (
                base64.b64decode("".join(parts.get(key, ()))).decode("utf-8", "replace")
                for key in ("config", "raw", "error")
            )
            found[name] = replace(found[name], config=config, raw=raw, error=error)

    for line in done.text.split("\n"):
        match line.split(" ", 2):
            case ["@compose", *words]:
                version = " ".join(words)
            case ["@project", project, status]:
                close()
                name, parts = project, {}
                code = int(status) if status.isdigit() else 1
                found[name] = _Answer(status=code, version=version)
            case ["@base", *path]:
                found[name] = replace(found[name], base=" ".join(path))
            case [word] if word.startswith("@"):
                section = word[1:]
            case _:
                parts.setdefault(section, []).append(line)
    close()
    if not found and done.status != 0:
        raise MqctlError("the input could not be staged on the host", why=done.last_words)
    return found


def _keep(answers: Mapping[str, _Answer], work: Sequence[_Work], hands: Hands) -> None:
    targets: dict[str, Target] = {}
    facts = hands.view.facts
    for one in work:
        name = one.project.name
        staged = _staged(one, answers.get(name, _Answer()), hands)
        kept = replace(one.record, staged=staged)
        seen = facts.project(name)
        hashes = {path: staged.inputs.get(f"ref:{path}", "") for path in staged.references}
        facts = facts.with_project(
            replace(
                seen,
                record=kept,
                marker=seen.marker or hands.view.marker(one.project.name),
                entries=seen.entries | {".mqctl"},
                hashes={**seen.hashes, **hashes},
            )
        )
        shipped = kept.applied.shipped if kept.applied else ()
        targets[f"{one.project.directory}/{record.RECORD}"] = record.dump(kept)
        targets[f"{one.project.directory}/{record.WATCHED}"] = watched(staged, shipped)
    if not hands.view.dry_run:
        hands.put("record", targets, subject=_subject(work))
    hands.view = hands.view.with_facts(facts)


def _staged(one: _Work, answer: _Answer, hands: Hands) -> Staged:
    base, values = one.inputs.base, dict(one.inputs.values)
    if answer.status != 0:
        return Staged(base, digest(values), values, error=_complaint(answer))
    try:
        resolved = compose.parse_config(answer.config, answer.raw, answer.base, one.project.layout)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Staged(base, digest(values), values, error=f"Compose's answer: {error}")
    # Also those in a checkout: a commit covers only what git tracks, and env files often are not.
    named = [*resolved.references, *_dotenv(one.project)]
    references = tuple(path for path in named if f"file:{path}" not in values)
    if references:
        done = hands.read(HASHES, one.project.name, *references)
        for line in done.text.splitlines():
            sha, _, path = line.partition("  ")
            values[f"ref:{path}"] = sha
    _note_binds(one, resolved.services.values(), hands)
    for name in dict.fromkeys(_UNSET.findall(answer.error)):
        hands.warn(f"{one.project.subject}: the variable {name} is not set: Compose takes no text")
    used = compose.service_inputs(resolved.services, values)
    services = {name: replace(one, input=used[name]) for name, one in resolved.services.items()}
    _note_version(one, answer.version, hands)
    networks, version = resolved.networks, answer.version
    return Staged(base, digest(values), values, references, services, networks, version)


def _note_version(one: _Work, version: str, hands: Hands) -> None:
    before = one.record.staged.compose_version if one.record.staged else version
    if before and version and before != version:
        hands.warn(
            f"{one.project.subject}: Compose on the host is {version} now, it was {before};"
            " nothing is rolled out for that"
        )


def _note_binds(one: _Work, services: Iterable[Service], hands: Hands) -> None:
    """A bind mount that nothing ships and the host lacks: Docker would create it, empty."""
    there = {path.partition("/")[0] for path in one.inputs.files}
    there |= {checkout.name for checkout in one.project.checkouts}
    there |= hands.view.facts.project(one.project.name).entries | {"."}
    for path in sorted({bind for service in services for bind in service.binds}):
        if not path.startswith("/") and path.partition("/")[0] not in there:
            hands.warn(
                f"{one.project.subject}: nothing ships the bind mount {path}, and the host has"
                " none: Docker creates it empty"
            )


def _dotenv(project: Project) -> tuple[str, ...]:
    if project.compose is None or project.compose.checkout is None:
        return ()
    return (posixpath.normpath(f"{project.layout.directory}/.env"),)


_UNSET = re.compile(r'"(\w+)\\?" variable is not set')
_NOISE = re.compile(r"^(time=.*level=warning|WARN)")


def _complaint(answer: _Answer) -> str:
    lines = [one.strip() for one in answer.error.splitlines() if one.strip()]
    told = [one for one in lines if not _NOISE.match(one)]
    # Compose may quote a value, and the record, which keeps this, stays on the host.
    return MASK((told or lines or [f"Compose ended with {answer.status}"])[-1])


def chosen(services: Mapping[str, Service]) -> dict[str, Service]:
    """The services that shall have containers."""
    return {name: one for name, one in services.items() if one.scale > 0}
