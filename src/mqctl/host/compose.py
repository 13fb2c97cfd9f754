"""Docker Compose as text: what it resolved, what we add, and which files it looks at. No I/O.

Compose is asked once for each input (``docker compose config``). What the decisions need from its
answer is kept in the record, so that no later cycle has to run Compose to know it.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from mqctl.host.facts import Port
from mqctl.host.record import Service
from mqctl.model import ComposeFile

COMPOSE_FILE = "compose.yaml"
PLAYGROUND_LABEL = "mqctl.playground"
CHAT_LABEL = "mqctl.agent-chat"
# Compose does not notice a changed bind-mounted file, inline config or secret. A label that hashes
# what a service uses of them makes Compose itself recreate exactly the services concerned.
INPUT_LABEL = "mqctl.input"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where Compose works, relative to the project's directory.

    ``directory`` is Compose's project directory ("." or a folder in a checkout), ``file`` the
    Compose file.
    """

    directory: str
    file: str

    @classmethod
    def of(cls, compose: ComposeFile) -> Layout:
        """The layout for a Compose file that is shipped, or that lies in a checkout."""
        if compose.checkout is None:
            return cls(".", COMPOSE_FILE)
        file = posixpath.normpath(posixpath.join(compose.checkout, compose.path))
        return cls(posixpath.dirname(file), file)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What ``docker compose config`` says. ``references`` are files that no input covers yet."""

    services: Mapping[str, Service]
    networks: tuple[str, ...]
    references: tuple[str, ...]


def parse_config(answer: str, raw: str, base: str, layout: Layout) -> Resolved:
    """Parse ``config --format json``.

    Args:
        answer: what Compose printed.
        raw: the Compose file's own text: Compose does not tell which env files it read.
        base: the absolute path that stands for the project's directory in ``answer``.
        layout: where Compose worked.

    Raises:
        ValueError: it is not what Compose prints.
    """
    config = json.loads(answer)
    services: dict[str, Any] = config.get("services") or {}
    shared = {
        kind: {name: _shared_input(value, base) for name, value in (config.get(kind) or {}).items()}
        for kind in ("configs", "secrets")
    }
    networks = tuple(
        sorted(n for n, one in (config.get("networks") or {}).items() if not _external(one))
    )
    references = set(_named_files(raw, layout))
    for values in shared.values():
        references |= {path for path, _ in values.values() if path}
    return Resolved(
        services={name: _service(one, shared, base) for name, one in sorted(services.items())},
        networks=networks,
        references=tuple(sorted(references)),
    )


def _external(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("external"))


def _relative(path: str, base: str) -> str:
    return posixpath.normpath(path.removeprefix(base + "/")) if path != base else "."


def _shared_input(value: dict[str, Any], base: str) -> tuple[str, str]:
    """A config or secret as (file it is read from, hash of what is written inline)."""
    path = _relative(str(value["file"]), base) if value.get("file") else ""
    inline = str(value.get("content", "")) + str(value.get("environment", ""))
    return path, hashlib.sha256(inline.encode()).hexdigest() if inline else ""


def _service(one: dict[str, Any], shared: Mapping[str, Any], base: str) -> Service:
    uses = [
        _relative(str(mount["source"]), base)
        for mount in one.get("volumes") or ()
        if mount.get("type") == "bind"
    ]
    inline = []
    for kind in ("configs", "secrets"):
        for use in one.get(kind) or ():
            path, digest = shared[kind].get(use.get("source"), ("", ""))
            uses += [path] if path else []
            inline += [digest] if digest else []
    return Service(
        image=str(one.get("image") or ""),
        build=bool(one.get("build")),
        scale=_scale(one),
        container_name=str(one.get("container_name") or ""),
        ports=tuple(_ports(one.get("ports") or ())),
        stop_grace=seconds(str(one.get("stop_grace_period") or "10s")),
        binds=tuple(dict.fromkeys(uses)),
        input=",".join(inline),
    )


def _scale(one: dict[str, Any]) -> int:
    replicas = (one.get("deploy") or {}).get("replicas")
    return int(next((n for n in (one.get("scale"), replicas) if n is not None), 1))


def _ports(ports: Iterable[dict[str, Any]]) -> Iterable[tuple[int, str, str]]:
    for port in ports:
        # A range leaves the choice to Docker, and no number means any free one.
        if str(port.get("published") or "").isdigit():
            ip = str(port.get("host_ip") or "")
            ip = "" if ip in {"0.0.0.0", "::"} else ip  # noqa: S104 - parsed, not bound
            yield int(port["published"]), str(port.get("protocol") or "tcp"), ip


def claimed_ports(services: Mapping[str, Service]) -> tuple[Port, ...]:
    """The ports that these services publish."""
    return tuple(Port(*port) for one in services.values() for port in one.ports if one.scale)


_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def seconds(duration: str) -> float:
    """A Go duration (``1m30s``) in seconds."""
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(duration))


def _named_files(raw: str, layout: Layout) -> Iterable[str]:
    """Files that a Compose file names and Compose merges in: env files, includes, extends."""
    try:
        document = yaml.safe_load(raw)
    except (yaml.YAMLError, RecursionError):
        return
    if not isinstance(document, dict):
        return
    found: list[object] = []
    services = document.get("services")
    for one in services.values() if isinstance(services, dict) else ():
        if isinstance(one, dict):
            found += _listed(one.get("env_file")) + _listed(one.get("label_file"))
            extends = one.get("extends")
            found += _listed(extends.get("file")) if isinstance(extends, dict) else []
    found += _listed(document.get("include"))
    for path in found:
        if isinstance(path, str) and path and "$" not in path:
            yield path if path.startswith("/") else posixpath.normpath(f"{layout.directory}/{path}")


def _listed(value: object) -> list[object]:
    if isinstance(value, list):
        return [path for item in value for path in _listed(item)]
    if isinstance(value, dict):
        return _listed(value.get("path"))
    return [] if value is None else [value]


def override(
    services: Mapping[str, Service],
    networks: Iterable[str],
    labels: Mapping[str, str],
    inputs: Mapping[str, str],
) -> bytes:
    """Our second Compose file: the labels that say whose it is. JSON is YAML.

    Not on volumes (their labels enter Compose's volume hash) and not on external networks.
    """
    document: dict[str, Any] = {
        "services": {
            name: {"labels": {**labels, **({INPUT_LABEL: inputs[name]} if inputs[name] else {})}}
            for name in services
        }
    }
    own = {name: {"labels": dict(labels)} for name in networks}
    if own:
        document["networks"] = own
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"


def service_inputs(services: Mapping[str, Service], inputs: Mapping[str, str]) -> dict[str, str]:
    """For each service a hash of what it uses that Compose does not look into, "" for nothing.

    Args:
        services: as resolved.
        inputs: the project's inputs by name: ``file:PATH``, ``ref:PATH``, ``commit:CHECKOUT``.
    """
    found = {}
    for name, service in services.items():
        used = [service.input] if service.input else []
        for bind in service.binds:
            used += [
                f"{key}={value}"
                for key, value in sorted(inputs.items())
                if _covers(bind, key.partition(":")[0], key.partition(":")[2])
            ]
        digest = hashlib.sha256("\n".join(used).encode()).hexdigest()
        found[name] = digest[:16] if used else ""
    return found


def _covers(bind: str, kind: str, path: str) -> bool:
    if kind == "commit":
        return bind == path or bind.startswith(path + "/")
    if kind not in {"file", "ref"}:
        return False
    return bind in {path, "."} or path.startswith(bind + "/")


_QUOTED = str.maketrans({"\\": r"\\", '"': r"\"", "$": r"\$", "\n": r"\n", "\r": r"\r"})


def env_file(env: Mapping[str, str]) -> str:
    """The text of an env file that gives Compose exactly these values."""
    return "".join(f'{name}="{value.translate(_QUOTED)}"\n' for name, value in sorted(env.items()))
