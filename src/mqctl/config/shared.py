"""The parts of the declared file that others refer to: secrets, Redis, policy, accounts, Props."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag, model_validator

from mqctl.config.fields import (
    Account,
    Branch,
    Budget,
    Duration,
    GitUrl,
    HttpUrl,
    Lifetime,
    Limit,
    LocalPath,
    LockTtl,
    Maybe,
    Names,
    RedisUrl,
    RegistryHost,
    Second,
    Section,
    Variable,
    Written,
)

REFERENCE = "{env: NAME} or {file: PATH}"


def either(*keys: str) -> dict[str, JsonValue]:
    """The JSON schema's way to ask for exactly one of ``keys``."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class Reference(Section):
    """Where a secret is; the secret itself is never written in this file."""

    model_config = ConfigDict(json_schema_extra=either("env", "file"))

    env: Maybe[Variable] = Field(
        default=None, description="name of the environment variable that holds it"
    )
    file: Maybe[LocalPath] = Field(
        default=None, description="file that holds it; refused when group or world can read it"
    )

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, value: object) -> object:
        if not isinstance(value, dict):
            raise ValueError(f"a secret is never written here; {REFERENCE} is allowed")  # noqa: TRY004 - pydantic's protocol
        if not set(value) <= {"env", "file"}:
            raise ValueError(f"not a secret's reference; {REFERENCE} is allowed")
        if len(value) != 1:
            raise ValueError(f"not exactly one source; {REFERENCE} is allowed")
        return value


def _text_or_reference(value: object) -> str:
    return "reference" if isinstance(value, dict | Reference) else "text"


EnvValue = Annotated[
    Annotated[Written, Tag("text")] | Annotated[Reference, Tag("reference")],
    Discriminator(_text_or_reference),
]
WebhookUrl = Annotated[
    Annotated[HttpUrl, Tag("text")] | Annotated[Reference, Tag("reference")],
    Discriminator(_text_or_reference),
]
Env = Names[Variable, EnvValue]


class Redis(Section):
    """The Redis that holds the locks."""

    url: Maybe[RedisUrl] = Field(
        default=None,
        description="redis://, rediss:// or unix://, or `embedded`: a private Redis of this user "
        "on this machine; MQCTL_REDIS_URL goes first",
    )
    password: Maybe[Reference] = Field(default=None, description="its password, by reference")
    timeout: Limit = Field(
        default=2.0, description="of one operation; slower means that the lock cannot be confirmed"
    )


class Lock(Section):
    """The lock of a Marquee."""

    ttl: LockTtl = Field(
        default=900.0, description="how long it is good for without a renewal; 2s or more"
    )


class Policy(Section):
    """The bounds of a cycle."""

    rollout_budget: Maybe[Budget] = Field(default=None, description="rollouts in one cycle")
    apply_grace: Maybe[Duration] = Field(
        default=None, description="drift waits this long after an apply"
    )
    rollout_cooldown: Maybe[Duration] = Field(
        default=None, description="a Playground is not repaired again sooner than this"
    )
    unhealthy_after: Maybe[Duration] = Field(
        default=None, description="unhealthy longer than this is stuck"
    )
    health_wait: Maybe[Duration] = Field(
        default=None, description="how long an apply may take to become healthy"
    )
    ttl: Maybe[Lifetime] = Field(
        default=None, description="of a Playground without one; or `never`"
    )
    chat_grace: Maybe[Duration] = Field(
        default=None, description="an agent chat is not redeployed sooner than this after its start"
    )
    orphan_grace: Maybe[Duration] = Field(
        default=None, description="an orphan is removed once it was seen for this long"
    )
    image_retention: Maybe[Duration] = Field(
        default=None, description="images that nothing uses any more are kept for this long"
    )
    connect_timeout: Maybe[Limit] = Field(default=None, description="of the SSH connection")
    command_timeout: Maybe[Second] = Field(default=None, description="of one command on the host")
    apply_timeout: Maybe[Second] = Field(default=None, description="of pull, build and up")
    shutdown_grace: Maybe[Second] = Field(
        default=None, description="a cancelled cycle ends within this time"
    )


class Registry(Section):
    """An image registry and the account that pulls from it."""

    host: RegistryHost = Field(description="as in image references, such as ghcr.io")
    username: Account = Field(description="the account's name")
    password: Reference = Field(description="its password or token, by reference")


class Credentials(Section):
    """How a Git server lets us in: a key for SSH, or a token for HTTPS."""

    ssh_key: Maybe[Reference] = Field(default=None, description="private key for an SSH address")
    username: Maybe[Account] = Field(
        default=None, description="account of the token; `git` if absent"
    )
    token: Maybe[Reference] = Field(default=None, description="token for an HTTPS address")


class Prop(Section):
    """One Git repository."""

    repository_url: GitUrl = Field(
        description="https://, ssh://, USER@HOST:PATH, or file:// on the Marquee"
    )
    default_branch: Branch = Field(
        default="main", description="the branch of a checkout that names none"
    )
    status: Literal["active", "disabled"] = Field(
        default="active", description="disabled is not fetched; what runs is left alone"
    )
    credentials: Maybe[Credentials] = Field(
        default=None, description="{ssh_key: ...} or {username: ..., token: ...}"
    )
    known_hosts_file: Maybe[LocalPath] = Field(
        default=None, description="host keys of the Git server; else the Marquee's own"
    )
