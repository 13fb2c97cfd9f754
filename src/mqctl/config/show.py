"""What is in force, as plain data in the shape of the declared file: every default is visible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import urlsplit

from mqctl.config.durations import format_duration
from mqctl.config.warnings import looks_secret
from mqctl.model import (
    AgentChat,
    ComposeFile,
    EnvValue,
    Fleet,
    Marquee,
    Playground,
    Playspec,
    Policy,
    Prop,
    Registry,
    Trigger,
)
from mqctl.secret import SHOWN, SecretRef

Shown: TypeAlias = "str | int | float | bool | list[Shown] | dict[str, Shown] | None"


def show(fleet: Fleet) -> dict[str, Shown]:
    """Give ``fleet`` as data that YAML and JSON can write.

    Secrets are ``***`` with where they come from. Registries, Props and Playspecs are those in use;
    a Playspec's ``env`` stands, merged, in its Playgrounds.
    """
    specs = {one.playspec.name: one.playspec for m in fleet.marquees for one in m.playgrounds}
    props = {prop.name: prop for spec in specs.values() for prop in spec.checkouts.values()}
    registries = {one.name: one for spec in specs.values() for one in spec.registries}
    for marquee in fleet.marquees:
        registries |= {one.name: one for chat in marquee.agent_chats for one in chat.registries}
    return {
        "version": 1,
        "fleet": fleet.name,
        "source": str(fleet.source),
        "redis": {
            "url": fleet.redis.url,
            "password": _secret(fleet.redis.password),
            "timeout": format_duration(fleet.redis.timeout),
        },
        "lock": {"ttl": format_duration(fleet.lock_ttl)},
        "registries": {name: _registry(one) for name, one in registries.items()},
        "props": {name: _prop(one) for name, one in props.items()},
        "playspecs": {name: _playspec(one) for name, one in specs.items()},
        "marquees": {one.name: _marquee(one) for one in fleet.marquees},
        "triggers": {one.name: _trigger(one) for one in fleet.triggers},
    }


def _secret(reference: SecretRef | None) -> str | None:
    return None if reference is None else f"{SHOWN} ({reference})"


def _env(env: Mapping[str, EnvValue]) -> Shown:
    shown: dict[str, Shown] = {}
    for key, value in env.items():
        if isinstance(value, SecretRef):
            shown[key] = _secret(value)
        else:
            shown[key] = SHOWN if value and looks_secret(key) else value
    return shown


def _optional(seconds: float | None) -> str:
    return "never" if seconds is None else format_duration(seconds)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _compose(compose: ComposeFile | None) -> Shown:
    if compose is None:
        return None
    if compose.checkout is None:
        return compose.path
    return {"checkout": compose.checkout, "path": compose.path}


def _policy(policy: Policy) -> Shown:
    shown: dict[str, Shown] = {}
    for field in fields(policy):
        value: float | None = getattr(policy, field.name)
        shown[field.name] = value if field.name == "rollout_budget" else _optional(value)
    return shown


def _registry(one: Registry) -> Shown:
    return {"host": one.host, "username": one.username, "password": _secret(one.password)}


def _prop(one: Prop) -> Shown:
    credentials: dict[str, Shown] = {}
    if one.ssh_key is not None:
        credentials["ssh_key"] = _secret(one.ssh_key)
    if one.token is not None:
        credentials |= {"username": one.username, "token": _secret(one.token)}
    return {
        "repository_url": one.repository_url,
        "default_branch": one.default_branch,
        "status": "active" if one.active else "disabled",
        "credentials": credentials or None,
        "known_hosts_file": _text(one.known_hosts_file),
    }


def _playspec(one: Playspec) -> Shown:
    return {
        "compose_file": _compose(one.compose),
        "files": list(one.files),
        "checkouts": {name: {"prop": prop.name} for name, prop in one.checkouts.items()},
        "registries": [registry.name for registry in one.registries],
        "pull_policy": one.pull_policy.value,
        "persist_volumes": one.persist_volumes,
    }


def _marquee(one: Marquee) -> Shown:
    return {
        "host": one.host,
        "user": one.user,
        "port": one.port,
        "identity_file": _text(one.identity_file),
        "known_hosts_file": _text(one.known_hosts_file),
        "status": "active" if one.active else "disabled",
        "launchable": one.launchable,
        "root": one.root,
        "sudo": one.sudo,
        "policy": _policy(one.policy),
        "playgrounds": {each.name: _playground(each) for each in one.playgrounds},
        "agent_chats": {each.name: _chat(each) for each in one.agent_chats},
    }


def _playground(one: Playground) -> Shown:
    return {
        "playspec": one.playspec.name,
        "project": one.project,
        "checkouts": {
            each.name: {"prop": each.prop.name, "branch": each.branch, "follow": each.follow}
            for each in one.checkouts
        },
        "env": _env(one.env),
        "ttl": _optional(one.ttl),
        "expires_at": _moment(one.expires_at),
        "status": one.status.value,
        "hold": one.hold,
    }


def _chat(one: AgentChat) -> Shown:
    shown: dict[str, Shown] = {
        "project": one.project,
        "registries": [registry.name for registry in one.registries],
        "health_url": one.health_url,
        "env": _env(one.env),
        "status": one.status.value,
    }
    if one.compose is not None:
        return {"compose_file": _compose(one.compose), **shown}
    return {
        "image": one.image,
        **shown,
        "data_path": one.data_path,
        "command": None if one.command is None else list(one.command),
        "ports": list(one.ports),
        "memory": one.memory,
        "cpus": one.cpus,
        "restart": one.restart,
    }


def _trigger(one: Trigger) -> Shown:
    shown: dict[str, Shown] = {"window": format_duration(one.window), "on": list(one.on)}
    if isinstance(one.webhook, SecretRef):
        return {"webhook": {"url": _secret(one.webhook)}, **shown}
    if one.webhook is not None:
        # The path of a webhook often is the password of it.
        parts = urlsplit(one.webhook)
        return {"webhook": {"url": f"{parts.scheme}://{parts.netloc}/{SHOWN}"}, **shown}
    workflow: dict[str, Shown] = {
        "repository": one.repository,
        "workflow": one.workflow,
        "ref": one.ref,
        "token": _secret(one.token),
    }
    return {"github_workflow": workflow, **shown}
