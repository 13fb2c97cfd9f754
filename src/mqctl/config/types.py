"""The declared file's keys, defaults and descriptions: the one table that all else is made from.

Pydantic checks it, ``mqctl config schema`` prints it, and an error about an unknown or missing key
quotes it. What needs two places of the file to be judged is in :mod:`mqctl.config.rules`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from mqctl.config.fields import (
    Bool,
    Branch,
    Command,
    ContainerPath,
    Cpus,
    Host,
    HttpUrl,
    Image,
    InnerPath,
    Items,
    Lifetime,
    LocalPath,
    Maybe,
    Memory,
    Moment,
    Name,
    Names,
    Port,
    PortMapping,
    Repository,
    Restart,
    Root,
    Second,
    Section,
    User,
    Version,
    Workflow,
)
from mqctl.config.shared import (
    Env,
    Lock,
    Policy,
    Prop,
    Redis,
    Reference,
    Registry,
    WebhookUrl,
    either,
)


def _shorthand(schema: dict[str, JsonValue]) -> None:
    """Let the JSON schema of a mapping take a plain text as well."""
    mapping = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string", "minLength": 1}, mapping]


class ComposeFile(Section):
    """Where a Compose file is: beside this file, or in a checkout."""

    model_config = ConfigDict(json_schema_extra=_shorthand)

    path: LocalPath = Field(description="relative to this file, or to the checkout's folder")
    checkout: Maybe[Name] = Field(default=None, description="the checkout it is in")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"path": value} if isinstance(value, str) else value


class Checkout(Section):
    """A working tree on the Marquee, beside the Compose file."""

    prop: Name = Field(description="the Prop it is a checkout of")
    follow: Bool = Field(
        default=True, description="false: cloned once, then only reported as behind"
    )


class Playspec(Section):
    """A blueprint of Playgrounds."""

    compose_file: ComposeFile = Field(description="PATH beside this file, or {checkout, path}")
    files: Items[InnerPath] = Field(
        default=(), description="files and folders shipped with the Compose file, relative to it"
    )
    checkouts: Names[Name, Checkout] = Field(
        default={}, description="working trees by name: {prop: NAME}"
    )
    registries: Items[Name] = Field(default=(), description="registries to log in to before a pull")
    pull_policy: Literal["missing", "always", "never"] = Field(
        default="missing", description="when images are pulled"
    )
    persist_volumes: Bool = Field(
        default=False, description="keep the volumes of expired Playgrounds"
    )
    env: Env = Field(default={}, description="for ${...} in the Compose file; secrets by reference")


class Playground(Section):
    """One Compose project on one Marquee."""

    playspec: Name = Field(description="the Playspec it is made from")
    branches: Names[Name, Branch] = Field(default={}, description="branch by checkout")
    env: Env = Field(default={}, description="merged over the Playspec's")
    ttl: Maybe[Lifetime] = Field(
        default=None, description="lives this long from its first apply; or never"
    )
    expires_at: Maybe[Moment] = Field(
        default=None, description="lives until then: RFC 3339 with an offset"
    )
    status: Literal["active", "stopped"] = Field(
        default="active", description="stopped keeps containers and volumes"
    )
    hold: Bool = Field(default=False, description="observe and report only")


class AgentChat(Section):
    """One long-lived agent, as one image or as a Compose project."""

    model_config = ConfigDict(json_schema_extra=either("image", "compose_file"))

    image: Maybe[Image] = Field(default=None, description="image of its one container")
    compose_file: Maybe[LocalPath] = Field(
        default=None, description="Compose file beside this one, for more than one container"
    )
    registries: Items[Name] = Field(default=(), description="registries to log in to before a pull")
    data_path: ContainerPath = Field(
        default="/data", description="where the data volume is mounted"
    )
    health_url: Maybe[HttpUrl] = Field(
        default=None, description="asked from here; without it the container's own health counts"
    )
    command: Maybe[Command] = Field(default=None, description="instead of the image's own")
    env: Env = Field(default={}, description="environment; secrets by reference")
    ports: Items[PortMapping] = Field(default=(), description="published ports, as `docker run -p`")
    memory: Maybe[Memory] = Field(default=None, description="limit, such as 512m")
    cpus: Maybe[Cpus] = Field(default=None, description="such as 1.5")
    restart: Restart = Field(default="on-failure:10", description="Docker's restart policy")
    status: Literal["active", "stopped"] = Field(
        default="active", description="stopped keeps its data"
    )


class Marquee(Section):
    """One Docker host. Without host and user it is legal, and not launchable."""

    host: Maybe[Host] = Field(
        default=None, description="name or address, or `local`: this machine, no SSH"
    )
    user: Maybe[User] = Field(default=None, description="login there")
    port: Maybe[Port] = Field(default=None, description="of SSH; else ~/.ssh/config decides")
    identity_file: Maybe[LocalPath] = Field(
        default=None, description="private key; else the agent and ~/.ssh/config"
    )
    known_hosts_file: Maybe[LocalPath] = Field(
        default=None, description="host keys; an unknown or changed one is always refused"
    )
    status: Literal["active", "disabled"] = Field(
        default="active", description="disabled: no cycle runs"
    )
    root: Root = Field(
        default="~/.mqctl", description="mqctl's directory on the host; a local filesystem"
    )
    sudo: Bool = Field(default=False, description="run everything under `sudo -n`, guard included")
    policy: Policy = Field(default=Policy(), description="over the file's policy")
    playgrounds: Names[Name, Playground] = Field(default={}, description="Playgrounds by name")
    agent_chats: Names[Name, AgentChat] = Field(default={}, description="agent chats by name")


class GithubWorkflow(Section):
    """A GitHub Actions workflow with a workflow_dispatch trigger."""

    repository: Repository = Field(description="OWNER/NAME")
    workflow: Workflow = Field(description="file name of the workflow")
    ref: Branch = Field(default="main", description="branch or tag it runs on")
    token: Reference = Field(description="GitHub token, by reference")


class Webhook(Section):
    """A URL that gets a POST."""

    url: WebhookUrl = Field(description="http:// or https://, or a reference to it")


class Trigger(Section):
    """An outside action, dispatched at most once in its window."""

    model_config = ConfigDict(json_schema_extra=either("github_workflow", "webhook"))

    github_workflow: Maybe[GithubWorkflow] = Field(
        default=None, description="a workflow to dispatch"
    )
    webhook: Maybe[Webhook] = Field(default=None, description="a URL to post to")
    window: Second = Field(default=600.0, description="the same dispatch within it is suppressed")
    on: Items[Literal["cycle.failed", "lock.lost", "lock.broken", "marquee.quarantined"]] = Field(
        default=(), description="events that dispatch it; none: by hand only"
    )


class File(Section):
    """The declared file."""

    model_config = ConfigDict(title="mqctl declared file")

    version: Version = Field(description="1")
    fleet: Name = Field(description="the Fleet's name; part of everything that mqctl creates")
    redis: Redis = Field(default=Redis(), description="the Redis that holds the locks")
    lock: Lock = Field(default=Lock(), description="the lock of each Marquee")
    policy: Policy = Field(
        default=Policy(), description="bounds of a cycle; each Marquee may override"
    )
    registries: Names[Name, Registry] = Field(default={}, description="image registries by name")
    props: Names[Name, Prop] = Field(default={}, description="Git repositories by name")
    playspecs: Names[Name, Playspec] = Field(
        default={}, description="blueprints of Playgrounds by name"
    )
    marquees: Names[Name, Marquee] = Field(default={}, description="Docker hosts by name")
    triggers: Names[Name, Trigger] = Field(default={}, description="outside actions by name")
