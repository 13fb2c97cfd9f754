"""What a Compose project is made from, and one digest of it.

The digest covers the bytes of the Compose file, our labels, the resolved env, the shipped files,
the commits of the checkouts and every file that the Compose file refers to. It is *ours*: Compose's
own config hash is not comparable between a file and a running container, and its recipe changes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mqctl.config.files import Unshippable, shipped
from mqctl.errors import ConfigError
from mqctl.host import compose
from mqctl.host.facts import ProjectFacts
from mqctl.host.record import OVERRIDE, Staged
from mqctl.host.upload import File
from mqctl.phases.projects import Project
from mqctl.secret import Secret, SecretRef

# Part of every digest: raise it when what the override says changes.
RECIPE = "1"
_PROGRAM, _DATA = 0o755, 0o644


@dataclass(frozen=True, slots=True)
class Inputs:
    """A project's input as far as this side knows it.

    ``files`` is what is shipped, by path in the project's directory; ``values`` a hash by input
    name. ``unknown`` says what must happen first (``depends on ...``), ``error`` why there is none.
    """

    files: Mapping[str, File] = field(default_factory=dict)
    env: Mapping[str, str | Secret] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    salt: str = ""
    unknown: str = ""
    error: str = ""

    @property
    def base(self) -> str:
        """The digest of what this side knows."""
        return digest(self.values)

    def env_file(self) -> str:
        """The env as Compose reads it, secrets revealed: for a command's input, nowhere else."""
        revealed = {
            name: value.reveal() if isinstance(value, Secret) else value
            for name, value in self.env.items()
        }
        return compose.env_file(revealed)


def digest(values: Mapping[str, str]) -> str:
    """One SHA-256 of named hashes."""
    return hashlib.sha256(json.dumps(dict(sorted(values.items()))).encode()).hexdigest()


def gather(project: Project, seen: ProjectFacts, salt: str) -> Inputs:
    """Read what is on this machine (files, secrets) and what was seen on the host (commits)."""
    unborn = [
        one.name
        for one in project.checkouts
        if not (state := seen.checkouts.get(one.name)) or state.error or not state.head
    ]
    if unborn:
        owner = project.subject.partition("/")[2]
        return Inputs(unknown=f"depends on checkout/{owner}/{unborn[0]}")
    try:
        files = _read(project)
        env = {
            name: value.read() if isinstance(value, SecretRef) else value
            for name, value in project.env.items()
        }
    except ConfigError as error:
        return Inputs(error=error.told)
    except (OSError, Unshippable) as error:
        return Inputs(error=str(error))
    bare = Inputs(files=files, env=env, salt=salt)
    values = {
        "recipe": RECIPE,
        "labels": _sha(json.dumps(dict(project.labels), sort_keys=True).encode()),
        "layout": f"{project.layout.directory} {project.layout.file}",
        # Salted, since a digest of few short values could be guessed back to them.
        "env": hmac.new(salt.encode(), bare.env_file().encode(), "sha256").hexdigest(),
        **{f"file:{path}": _sha(file.content) for path, file in files.items()},
        **{f"mode:{path}": "executable" for path, file in files.items() if file.mode == _PROGRAM},
        **{f"commit:{one.name}": seen.checkouts[one.name].head for one in project.checkouts},
    }
    return Inputs(files=files, env=env, values=values, salt=salt)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(project: Project) -> dict[str, File]:
    if project.document:
        return {compose.COMPOSE_FILE: File(project.document)}
    if project.compose is None or project.compose.checkout is not None:
        return {}
    source = Path(project.compose.path)
    files = {compose.COMPOSE_FILE: _shipped(source)}
    for entry in project.files:
        for name, path in shipped(source.parent, entry).items():
            files[name] = _shipped(path)
    return files


def _shipped(path: Path) -> File:
    """As git would keep it: a service that is not root must be able to read its configuration.

    The directories above it on the host let nobody else in.
    """
    executable = path.stat().st_mode & stat.S_IXUSR
    return File(path.read_bytes(), _PROGRAM if executable else _DATA)


def references_changed(staged: Staged, seen: ProjectFacts) -> bool:
    """Whether a file on the host that the Compose file refers to is not what it was."""
    return any(
        seen.hashes.get(path, "") != staged.inputs.get(f"ref:{path}", "")
        for path in staged.references
    )


def watched(staged: Staged, paths: Iterable[str]) -> bytes:
    """The text of ``.mqctl/watched``: what the observation hashes each cycle."""
    every = sorted({*staged.references, *paths, OVERRIDE})
    return "".join(f"{path}\n" for path in every).encode()


def describe_change(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Which inputs differ, for people: ``compose.yaml``, ``env``, ``commit of app 1234567``..."""
    changed = []
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        kind, _, what = name.partition(":")
        if kind == "commit":
            changed.append(f"commit of {what} is {after.get(name, 'gone')[:12]}")
        else:
            changed.append(what or kind)
    return changed
