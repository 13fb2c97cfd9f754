"""What is legal in a declared file and probably not what was meant; for ``config check``."""

from __future__ import annotations

import itertools
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from mqctl.config.durations import format_duration
from mqctl.config.urls import EMBEDDED
from mqctl.model import EnvValue, Fleet, Marquee, Registry
from mqctl.secret import SecretRef

_SECRET_NAME = re.compile(r"(?i)(PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY)(_|$)")
_LONG_LOCK = 6 * 3600.0
_LIMITS = ("connect_timeout", "command_timeout", "apply_timeout", "health_wait")


def cautions(fleet: Fleet) -> list[str]:
    """Give one sentence for each thing that an operator should know; most often none.

    Looks at file modes on this machine, and reads no secret.
    """
    found = [*_lock(fleet), *_redis(fleet)]
    for marquee in fleet.marquees:
        found += _marquee(fleet, marquee)
        found += _variables(marquee)
    for where, reference in references(fleet):
        found += _secret_file(where, reference)
    return list(dict.fromkeys(found))


def looks_secret(variable: str) -> bool:
    """Whether a variable of that name most likely holds a secret."""
    return _SECRET_NAME.search(variable) is not None


def covered(lock_ttl: float) -> float:
    """The seconds of a fresh lease that a single step can use.

    That is the TTL without the margin: 1 %, 50 ms, and the time to kill what does not end itself.
    """
    return lock_ttl - (0.01 * lock_ttl + 0.05 + min(5.0, lock_ttl / 10))


def references(fleet: Fleet) -> Iterator[tuple[str, SecretRef]]:
    """Give every secret that a run may need, with what it is for."""
    if fleet.redis.password is not None:
        yield "redis.password", fleet.redis.password
    for marquee in fleet.marquees:
        for where, registry in _registries(marquee):
            yield where, registry.password
        for playground in marquee.playgrounds:
            for prop in playground.playspec.checkouts.values():
                if prop.ssh_key is not None:
                    yield f"props.{prop.name}.credentials.ssh_key", prop.ssh_key
                if prop.token is not None:
                    yield f"props.{prop.name}.credentials.token", prop.token
        for where, env in _environments(marquee):
            for key, value in env.items():
                if isinstance(value, SecretRef):
                    yield f"{where}.env.{key}", value
    for trigger in fleet.triggers:
        if isinstance(trigger.webhook, SecretRef):
            yield f"triggers.{trigger.name}.webhook.url", trigger.webhook
        if trigger.token is not None:
            yield f"triggers.{trigger.name}.github_workflow.token", trigger.token


def _registries(marquee: Marquee) -> Iterator[tuple[str, Registry]]:
    used = [one.playspec.registries for one in marquee.playgrounds]
    used += [one.registries for one in marquee.agent_chats]
    for registry in itertools.chain(*used):
        yield f"registries.{registry.name}.password", registry


def _environments(marquee: Marquee) -> Iterator[tuple[str, Mapping[str, EnvValue]]]:
    for playground in marquee.playgrounds:
        yield f"marquees.{marquee.name}.playgrounds.{playground.name}", playground.env
    for chat in marquee.agent_chats:
        yield f"marquees.{marquee.name}.agent_chats.{chat.name}", chat.env


def _lock(fleet: Fleet) -> Iterator[str]:
    lease = covered(fleet.lock_ttl)
    ttl = format_duration(fleet.lock_ttl)
    cut: dict[tuple[str, float], list[str]] = {}
    for marquee in fleet.marquees:
        for key in _LIMITS:
            limit = float(getattr(marquee.policy, key))
            if limit > lease:
                cut.setdefault((key, limit), []).append(marquee.name)
    for (key, limit), names in cut.items():
        most = format_duration(int(lease * 10) / 10)
        whose = ", ".join(names)
        yield f"{key} {format_duration(limit)} of {whose}: lock.ttl {ttl} cuts it to {most}"
    if fleet.lock_ttl > _LONG_LOCK:
        yield f"lock.ttl {ttl}: a cycle that dies keeps its Marquee locked for that long"


def _redis(fleet: Fleet) -> Iterator[str]:
    if fleet.redis.url == EMBEDDED:
        yield "redis.url embedded: only this user on this machine sees the locks"
        if fleet.redis.password is not None:
            yield "redis.password: not used with an embedded Redis"


def _marquee(fleet: Fleet, marquee: Marquee) -> Iterator[str]:
    name = f"marquees.{marquee.name}"
    ssh: dict[str, object] = {
        "user": marquee.user,
        "port": marquee.port,
        "identity_file": marquee.identity_file,
        "known_hosts_file": marquee.known_hosts_file,
    }
    given = {key: value for key, value in ssh.items() if value is not None}
    if marquee.local:
        if given:
            yield f"{name}: {', '.join(given)} not used, since host is local"
    else:
        if marquee.active and not marquee.launchable:
            missing = "host" if marquee.host is None else "user"
            yield f"{name}: not launchable without {missing}, so no cycle runs on it"
        for key, value in given.items():
            if isinstance(value, Path) and not value.is_file():
                yield f"{name}.{key}: {value} is not there"
    for part in (fleet.name, marquee.name):
        if part.endswith("-"):
            yield f"{part} ends with a dash: Docker refuses the names of images that Compose builds"


def _variables(marquee: Marquee) -> Iterator[str]:
    for where, env in _environments(marquee):
        for key, value in env.items():
            if isinstance(value, str) and value and looks_secret(key):
                yield f"{where}.env.{key}: looks like a secret in the file; use a reference"


def _secret_file(where: str, reference: SecretRef) -> Iterator[str]:
    if reference.path is None:
        return
    try:
        mode = reference.path.stat().st_mode
    except OSError:
        yield f"{where}: {reference.path} is not there"
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"{where}: group or world can read {reference.path}, so it will be refused"
