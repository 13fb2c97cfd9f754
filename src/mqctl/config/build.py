"""From the checked types to the model: names become objects, paths absolute, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mqctl import model
from mqctl.config import shared, types
from mqctl.config.fields import NEVER
from mqctl.config.files import locate
from mqctl.secret import SecretRef

_CREDENTIALS = ("$CREDENTIALS_DIRECTORY/", "${CREDENTIALS_DIRECTORY}/")
_GIT_ACCOUNT = "git"  # with a token as password, every common Git server takes any name


def build(
    file: types.File, source: Path, redis_url: str, environ: Mapping[str, str]
) -> model.Fleet:
    """Build the Fleet of a file that passed every check.

    Args:
        file: the file.
        source: the absolute path it was read from; relative paths start in its folder.
        redis_url: the file's, or the environment's.
        environ: for ``HOME`` and ``CREDENTIALS_DIRECTORY``.
    """
    return _Builder(file, source, environ).fleet(redis_url)


class _Builder:
    def __init__(self, file: types.File, source: Path, environ: Mapping[str, str]) -> None:
        self._file = file
        self._source = source
        self._environ = environ
        self._registries = {name: self._registry(name) for name in file.registries}
        self._props = {name: self._prop(name) for name in file.props}
        self._playspecs = {name: self._playspec(name) for name in file.playspecs}

    def fleet(self, redis_url: str) -> model.Fleet:
        """The whole file."""
        redis = self._file.redis
        return model.Fleet(
            name=self._file.fleet,
            source=self._source,
            redis=model.RedisSettings(redis_url, self._maybe(redis.password), redis.timeout),
            lock_ttl=self._file.lock.ttl,
            marquees=tuple(self._marquee(*item) for item in self._file.marquees.items()),
            triggers=tuple(self._trigger(*item) for item in self._file.triggers.items()),
        )

    # -------------------------------------------------------------- paths and secrets

    def _path(self, text: str) -> Path:
        return locate(text, self._source.parent, self._environ)

    def _optional_path(self, text: str | None) -> Path | None:
        return None if text is None else self._path(text)

    def _secret(self, reference: shared.Reference) -> SecretRef:
        if reference.file is None:
            return SecretRef(env=reference.env)
        for prefix in _CREDENTIALS:
            if reference.file.startswith(prefix):
                # systemd sets the variable for the run, not for whoever checks the file.
                directory = self._environ.get("CREDENTIALS_DIRECTORY", prefix.rstrip("/"))
                return SecretRef(path=Path(directory, reference.file.removeprefix(prefix)))
        return SecretRef(path=self._path(reference.file))

    def _maybe(self, reference: shared.Reference | None) -> SecretRef | None:
        return None if reference is None else self._secret(reference)

    def _value(self, value: str | shared.Reference) -> model.EnvValue:
        return value if isinstance(value, str) else self._secret(value)

    def _env(self, *layers: Mapping[str, str | shared.Reference]) -> dict[str, model.EnvValue]:
        """Later layers go over earlier ones."""
        return {key: self._value(value) for layer in layers for key, value in layer.items()}

    # -------------------------------------------------------------- what is shared

    def _registry(self, name: str) -> model.Registry:
        one = self._file.registries[name]
        return model.Registry(name, one.host, one.username, self._secret(one.password))

    def _prop(self, name: str) -> model.Prop:
        one = self._file.props[name]
        credentials = one.credentials or shared.Credentials()
        token = self._maybe(credentials.token)
        return model.Prop(
            name=name,
            repository_url=one.repository_url,
            default_branch=one.default_branch,
            active=one.status == "active",
            ssh_key=self._maybe(credentials.ssh_key),
            username=(credentials.username or _GIT_ACCOUNT) if token else None,
            token=token,
            known_hosts_file=self._optional_path(one.known_hosts_file),
        )

    def _playspec(self, name: str) -> model.Playspec:
        one = self._file.playspecs[name]
        compose = one.compose_file
        path = compose.path if compose.checkout else str(self._path(compose.path))
        return model.Playspec(
            name=name,
            compose=model.ComposeFile(path, compose.checkout),
            files=one.files,
            checkouts={key: self._props[value.prop] for key, value in one.checkouts.items()},
            registries=tuple(self._registries[key] for key in one.registries),
            pull_policy=model.PullPolicy(one.pull_policy),
            persist_volumes=one.persist_volumes,
        )

    # -------------------------------------------------------------- Marquees

    def _marquee(self, name: str, one: types.Marquee) -> model.Marquee:
        policy = _merge(_merge(model.Policy(), self._file.policy), one.policy)
        prefix = f"{self._file.fleet}_{name}"
        return model.Marquee(
            name=name,
            fleet=self._file.fleet,
            host=one.host,
            user=one.user,
            port=one.port,
            identity_file=self._optional_path(one.identity_file),
            known_hosts_file=self._optional_path(one.known_hosts_file),
            active=one.status == "active",
            root=one.root,
            sudo=one.sudo,
            policy=policy,
            playgrounds=tuple(
                self._playground(key, f"{prefix}_{key}", value, policy)
                for key, value in one.playgrounds.items()
            ),
            agent_chats=tuple(
                self._chat(key, f"{prefix}_chat_{key}", value)
                for key, value in one.agent_chats.items()
            ),
        )

    def _playground(
        self, name: str, project: str, one: types.Playground, policy: model.Policy
    ) -> model.Playground:
        declared = self._file.playspecs[one.playspec]
        spec = self._playspecs[one.playspec]
        return model.Playground(
            name=name,
            project=project,
            playspec=spec,
            checkouts=tuple(
                model.Checkout(
                    name=key,
                    prop=prop,
                    branch=one.branches.get(key, prop.default_branch),
                    follow=declared.checkouts[key].follow,
                )
                for key, prop in spec.checkouts.items()
            ),
            env=self._env(declared.env, one.env),
            ttl=policy.ttl if one.ttl is None else _finite(one.ttl),
            expires_at=one.expires_at,
            status=model.Status(one.status),
            hold=one.hold,
        )

    def _chat(self, name: str, project: str, one: types.AgentChat) -> model.AgentChat:
        path = self._optional_path(one.compose_file)
        return model.AgentChat(
            name=name,
            project=project,
            image=one.image,
            compose=None if path is None else model.ComposeFile(str(path)),
            registries=tuple(self._registries[key] for key in one.registries),
            data_path=one.data_path,
            health_url=one.health_url,
            command=one.command,
            env=self._env(one.env),
            ports=one.ports,
            memory=one.memory,
            cpus=one.cpus,
            restart=one.restart,
            status=model.Status(one.status),
        )

    # -------------------------------------------------------------- triggers

    def _trigger(self, name: str, one: types.Trigger) -> model.Trigger:
        workflow = one.github_workflow
        return model.Trigger(
            name=name,
            window=one.window,
            webhook=None if one.webhook is None else self._value(one.webhook.url),
            repository=workflow.repository if workflow else None,
            workflow=workflow.workflow if workflow else None,
            ref=workflow.ref if workflow else None,
            token=self._secret(workflow.token) if workflow else None,
            on=one.on,
        )


def _merge(base: model.Policy, over: shared.Policy) -> model.Policy:
    given = over.model_dump(exclude_unset=True)
    if "ttl" in given:
        given["ttl"] = _finite(given["ttl"])
    return replace(base, **given)


def _finite(seconds: float) -> float | None:
    return None if seconds == NEVER else seconds
