"""The rules that need two places of the declared file: names that must exist, keys that exclude
each other, things of which there may be one.

They run on what :mod:`~mqctl.config.salvage` left of the file, and look at the document itself for
what is *declared*, so that one type error does not draw dangling names after it.
"""  # noqa: D205 - one sentence

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from mqctl.config import texts, urls
from mqctl.config.declared import Declared
from mqctl.config.durations import format_duration
from mqctl.config.nodes import Path
from mqctl.config.problems import About, Finding, listed, shown_key, suggestion
from mqctl.config.types import Playspec

# Compose and the Docker CLI read these; they would make it work on another project or engine.
RESERVED_VARIABLES = {
    "COMPOSE_ENV_FILES",
    "COMPOSE_FILE",
    "COMPOSE_PATH_SEPARATOR",
    "COMPOSE_PROJECT_DIRECTORY",
    "COMPOSE_PROJECT_NAME",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
}
# What mqctl itself puts into a project's directory.
RESERVED_FILES = {"compose.yaml", ".mqctl"}
IMAGE_KEYS = ("command", "cpus", "data_path", "memory", "ports", "restart")
_SSH_PORT = 22
_CREDENTIALS = "{ssh_key: ...} or {username: ..., token: ...}"


def check(declared: Declared) -> Iterator[Finding]:
    """Give all that is wrong between the parts of the file."""
    yield from _lock(declared)
    yield from _props(declared)
    for name, spec in declared.file.playspecs.items():
        yield from _playspec(declared, name, spec)
    yield from _hosts(declared)
    for name in declared.file.marquees:
        yield from _playgrounds(declared, name)
        yield from _chats(declared, name)
    yield from _triggers(declared)


def _lock(declared: Declared) -> Iterator[Finding]:
    redis, lock = declared.file.redis, declared.file.lock
    known = declared.sound("redis", "timeout") and declared.sound("lock", "ttl")
    if known and redis.timeout > lock.ttl / 3:
        said = "timeout" in declared.names("redis")
        where = ("redis", "timeout") if said else ("lock", "ttl")
        timeout, ttl = format_duration(redis.timeout), format_duration(lock.ttl)
        message = f"redis.timeout {timeout} is above a third of lock.ttl {ttl}; a third is allowed"
        yield Finding(where, message)


def _props(declared: Declared) -> Iterator[Finding]:
    for name, prop in declared.file.props.items():
        path = ("props", name, "credentials")
        if not declared.sound("props", name, "repository_url"):
            continue
        ssh = urls.is_ssh(prop.repository_url)
        given = set(declared.names(*path))
        if "ssh_key" in given and given & {"token", "username"}:
            yield Finding(
                path, "both a key and an account; {ssh_key: ...} or {username: ..., token: ...}"
            )
        elif "ssh_key" in given and not ssh:
            message = "a key for a URL that is not SSH; {username: ..., token: ...} is allowed"
            yield Finding((*path, "ssh_key"), message)
        elif "token" in given and not prop.repository_url.startswith("https://"):
            message = "a token for a URL that is not https; {ssh_key: ...} is allowed"
            yield Finding((*path, "token"), message)
        elif prop.credentials is not None and not given & {"ssh_key", "token"}:
            yield Finding(path, f"no secret; {_CREDENTIALS} is allowed")
        if prop.known_hosts_file is not None and not ssh:
            where = ("props", name, "known_hosts_file")
            yield Finding(where, "host keys for a URL that is not SSH; remove the key")


def _playspec(declared: Declared, name: str, spec: Playspec) -> Iterator[Finding]:
    path = ("playspecs", name)
    for checkout, what in spec.checkouts.items():
        prop = (*path, "checkouts", checkout, "prop")
        if declared.sound(*prop):
            yield from _known(prop, "Prop", what.prop, declared.names("props"))
    yield from _registries(declared, path)
    yield from _reserved((*path, "env"), spec.env)
    where = (*path, "compose_file")
    compose = spec.compose_file
    if compose.checkout is None or not declared.sound(*where):
        yield from _shipped(declared, path, spec)
        return
    known = declared.names(*path, "checkouts")
    yield from _known((*where, "checkout"), "checkout of this Playspec", compose.checkout, known)
    try:
        texts.inner_path(compose.path)
    except ValueError as error:
        yield Finding((*where, "path"), str(error))
    if "files" in declared.names(*path):
        message = "files beside a checkout's Compose file; the checkout itself has them"
        yield Finding((*path, "files"), message, About.KEY)


def _shipped(declared: Declared, path: tuple[str, ...], spec: Playspec) -> Iterator[Finding]:
    checkouts = declared.names(*path, "checkouts")
    compose = spec.compose_file.path.rsplit("/", 1)[-1]
    seen: set[str] = set()
    for index, text in declared.texts(*path, "files"):
        file = texts.inner_path(text)
        where: Path = (*path, "files", index)
        first = file.split("/", 1)[0]
        if file == compose:
            yield Finding(where, "the Compose file itself; it is shipped anyway")
        elif first in RESERVED_FILES:
            yield Finding(where, f"{first} is mqctl's own in a project; another name is allowed")
        elif first in checkouts:
            yield Finding(where, f"{first} is a checkout of this Playspec; another name is allowed")
        elif any(file == one or f"{file}/".startswith(f"{one}/") for one in seen):
            yield Finding(where, "already shipped by an entry above; once is allowed")
        elif any(one.startswith(f"{file}/") for one in seen):
            yield Finding(where, "holds what an entry above ships; once is allowed")
        seen.add(file)


def _hosts(declared: Declared) -> Iterator[Finding]:
    seen: dict[tuple[str, int], str] = {}
    for name, marquee in declared.file.marquees.items():
        path = ("marquees", name)
        if marquee.host is None or not declared.sound(*path, "port"):
            continue
        local = marquee.host == "local"
        port = _SSH_PORT if marquee.port is None or local else marquee.port
        first = seen.setdefault((marquee.host.lower().rstrip("."), port), name)
        if first != name:
            message = f"the same host and port as Marquee {first}; one Marquee a host is allowed"
            yield Finding((*path, "host"), message)


def _playgrounds(declared: Declared, marquee: str) -> Iterator[Finding]:
    keepers: dict[str, str] = {}
    for name, playground in declared.file.marquees[marquee].playgrounds.items():
        path = ("marquees", marquee, "playgrounds", name)
        wanted = playground.playspec
        yield from _reserved((*path, "env"), playground.env)
        if not declared.sound(*path, "playspec"):
            continue
        yield from _known((*path, "playspec"), "Playspec", wanted, declared.names("playspecs"))
        if wanted not in declared.names("playspecs"):
            continue
        checkouts = declared.names("playspecs", wanted, "checkouts")
        for checkout in playground.branches:
            what = f"checkout of Playspec {wanted}"
            yield from _known((*path, "branches", checkout), what, checkout, checkouts, About.KEY)
        spec = declared.file.playspecs.get(wanted)
        if spec is not None and spec.persist_volumes:
            first = keepers.setdefault(wanted, name)
            if first != name:
                yield Finding(
                    (*path, "playspec"),
                    f"Playspec {wanted} has persist_volumes and Playground {first} is made from it;"
                    " one Playground of it on a Marquee is allowed",
                )


def _chats(declared: Declared, marquee: str) -> Iterator[Finding]:
    for name, chat in declared.file.marquees[marquee].agent_chats.items():
        path = ("marquees", marquee, "agent_chats", name)
        given = declared.names(*path)
        yield from _one_of(path, given, "image", "compose_file")
        if "compose_file" in given:
            yield from _reserved((*path, "env"), chat.env)
            if "image" not in given:
                for key in sorted(set(IMAGE_KEYS) & set(given)):
                    message = "belongs to image; beside compose_file the Compose file says it"
                    yield Finding((*path, key), message, About.KEY)
        yield from _registries(declared, path)


def _triggers(declared: Declared) -> Iterator[Finding]:
    for name in declared.file.triggers:
        path = ("triggers", name)
        yield from _one_of(path, declared.names(*path), "webhook", "github_workflow")


# ------------------------------------------------------------------ used by several


def _one_of(path: Path, given: Collection[str], one: str, other: str) -> Iterator[Finding]:
    if one in given and other in given:
        message = f"{one} and {other} at once; one of them is allowed"
        yield Finding((*path, other), message, About.KEY)
    elif one not in given and other not in given:
        yield Finding(path, f"neither {one} nor {other}; one of them is needed", About.KEY)


def _known(
    path: Path, what: str, name: str, names: Collection[str], about: About = About.VALUE
) -> Iterator[Finding]:
    if name not in names:
        known = sorted(names)
        allowed = suggestion(name, known) + listed(known, "none is declared")
        yield Finding(path, f"no {what} is called {shown_key(name)}; {allowed}", about)


def _registries(declared: Declared, path: tuple[str, ...]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for index, name in declared.texts(*path, "registries"):
        where: Path = (*path, "registries", index)
        yield from _known(where, "registry", name, declared.names("registries"))
        registry = declared.file.registries.get(name)
        if registry is None or not declared.sound("registries", name, "host"):
            continue
        if registry.host in seen:
            message = f"the same host as {seen[registry.host]}; one login for a host is allowed"
            yield Finding(where, message)
        seen.setdefault(registry.host, name)


def _reserved(path: Path, env: Mapping[str, object]) -> Iterator[Finding]:
    for key in sorted(RESERVED_VARIABLES & set(env)):
        message = "read by Compose or Docker itself; any other name is allowed"
        yield Finding((*path, key), message, About.KEY)
