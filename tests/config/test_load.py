"""Loading: the environment, paths, merging, many errors at once."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from mqctl import model
from mqctl.config.load import load
from mqctl.config.problems import ConfigErrors
from mqctl.config.salvage import _PLACEHOLDERS
from mqctl.config.translate import _inner
from mqctl.config.types import File
from mqctl.errors import ConfigError
from mqctl.secret import SecretRef
from tests.config.support import HEAD, HOME, errors, loaded, write

# SPEC 3, in seconds.
DEFAULTS = {
    "rollout_budget": 3,
    "apply_grace": 180,
    "rollout_cooldown": 600,
    "unhealthy_after": 300,
    "health_wait": 90,
    "ttl": None,
    "chat_grace": 120,
    "orphan_grace": 600,
    "image_retention": 7 * 86400,
    "connect_timeout": 8,
    "command_timeout": 300,
    "apply_timeout": 600,
    "shutdown_grace": 10,
}


def test_every_default_of_the_policy(tmp_path: Path) -> None:
    (marquee,) = loaded(tmp_path, HEAD + "marquees: {one: {}}\n").marquees
    assert asdict(marquee.policy) == DEFAULTS


@pytest.mark.parametrize("key", DEFAULTS)
def test_the_marquee_s_policy_goes_over_the_file_s_over_the_default(
    tmp_path: Path, key: str
) -> None:
    text, more = ("7", "9") if key == "rollout_budget" else ("7s", "9s")
    fleet = loaded(
        tmp_path,
        HEAD + f"policy: {{{key}: {text}}}\nmarquees: {{a: {{policy: {{{key}: {more}}}}}, b: }}\n",
    )
    policies = [asdict(marquee.policy) for marquee in fleet.marquees]
    assert policies == [{**DEFAULTS, key: 9}, {**DEFAULTS, key: 7}]


def test_every_default_of_a_marquee(tmp_path: Path) -> None:
    fleet = loaded(tmp_path, HEAD + "marquees: {one: {}}\n")
    assert fleet.marquees == (model.Marquee("one", "acme"),)
    assert not fleet.marquees[0].launchable
    assert fleet.redis == model.RedisSettings("embedded", None, 2.0)
    assert fleet.lock_ttl == 900


def test_every_default_of_what_runs(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").touch()
    fleet = loaded(
        tmp_path,
        HEAD + "props: {shop: {repository_url: 'git@a:b'}}\n"
        "playspecs: {web: {compose_file: compose.yaml, checkouts: {app: {prop: shop}}}}\n"
        "marquees: {one: {playgrounds: {demo: {playspec: web}}, agent_chats: {h: {image: a}}}}\n"
        "triggers: {t: {webhook: {url: {env: URL}}}}\n",
    )
    (marquee,) = fleet.marquees
    prop = model.Prop("shop", "git@a:b")
    compose = model.ComposeFile(str(tmp_path / "compose.yaml"))
    spec = model.Playspec("web", compose, checkouts={"app": prop})
    checkout = model.Checkout("app", prop, "main")
    assert marquee.playgrounds == (
        model.Playground("demo", "acme_one_demo", spec, checkouts=(checkout,)),
    )
    assert marquee.agent_chats == (model.AgentChat("h", "acme_one_chat_h", image="a"),)
    assert fleet.triggers == (model.Trigger("t", 600.0, webhook=SecretRef(env="URL")),)


def test_paths_start_in_the_file_s_folder_wherever_it_is_loaded_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + (
        "marquees: {m: {identity_file: keys/id, known_hosts_file: ~/.ssh/known_hosts,"
        " agent_chats: {h: {image: a, env: {A: {file: /run/a}, B: {file: b}}}}}}\n"
    )
    write(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    fleet = load("marquees.yaml", HOME)
    (marquee,) = fleet.marquees
    assert fleet.source == tmp_path / "marquees.yaml"
    assert marquee.identity_file == tmp_path / "keys/id"
    assert marquee.known_hosts_file == Path("/home/op/.ssh/known_hosts")
    env = {"A": SecretRef(path=Path("/run/a")), "B": SecretRef(path=tmp_path / "b")}
    assert marquee.agent_chats[0].env == env


def test_systemd_credentials_are_found(tmp_path: Path) -> None:
    text = "version: 1\nfleet: a\nredis: {url: embedded, password: {file: %s/redis}}\n"
    for spelling in ("$CREDENTIALS_DIRECTORY", "'${CREDENTIALS_DIRECTORY}'"):
        written = text.replace("%s/redis", f"{spelling}/redis".replace("'/redis", "/redis'"))
        fleet = loaded(tmp_path, written, CREDENTIALS_DIRECTORY="/run/credentials/mqctl")
        assert fleet.redis.password == SecretRef(path=Path("/run/credentials/mqctl/redis"))


def test_the_environment_s_redis_goes_first(tmp_path: Path) -> None:
    assert loaded(tmp_path, HEAD, MQCTL_REDIS_URL="redis://r").redis.url == "redis://r"
    assert loaded(tmp_path, HEAD, MQCTL_REDIS_URL="").redis.url == "embedded"
    bare = "version: 1\nfleet: acme\n"
    assert loaded(tmp_path, bare, MQCTL_REDIS_URL="unix:///s").redis.url == "unix:///s"


def test_the_environment_s_redis_is_checked_as_the_file_s(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD)
    with pytest.raises(ConfigErrors) as caught:
        load(path, {"MQCTL_REDIS_URL": "redis://:hunter2@r"})
    (problem,) = caught.value.problems
    assert str(problem).startswith("environment: MQCTL_REDIS_URL: a password in the URL; ")
    assert "hunter2" not in caught.value.why


def test_a_hundred_errors_come_at_once(tmp_path: Path) -> None:
    wrong = "{hots: a, port: x, sudo: 1, host: '-', b: }"
    marquees = "".join(f"  m{n}: {wrong}\n" for n in range(100))
    found = errors(tmp_path, HEAD + "marquees:\n" + marquees)
    assert len(found) == 500
    assert found[0] == (
        "5:8: marquees.m0.hots: unknown key; did you mean host? allowed: agent_chats, host, "
        "identity_file, known_hosts_file, playgrounds, policy, port, root, status, sudo, user"
    )
    assert [int(line.split(":")[0]) for line in found] == [n // 5 + 5 for n in range(500)]


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "pipe", "not a regular file; it is read again once the lock is taken"),
        (tmp_path, "cannot be read: is a directory"),
        (tmp_path / "none", "cannot be read: no such file or directory"),
    ):
        with pytest.raises(ConfigError) as caught:
            load(path, {})
        assert message in caught.value.why


def test_ttl_never_goes_over_the_policy_s_ttl(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").touch()
    fleet = loaded(
        tmp_path,
        HEAD + "policy: {ttl: 2d}\nplayspecs: {web: {compose_file: compose.yaml}}\nmarquees:\n"
        "  m: {playgrounds: {a: {playspec: web}, b: {playspec: web, ttl: never},"
        " c: {playspec: web, ttl: 1h}}}\n",
    )
    assert [one.ttl for one in fleet.marquees[0].playgrounds] == [172800, None, 3600]


def test_every_key_that_must_be_there_has_a_placeholder() -> None:
    needed: set[str] = set()
    open_: list[object] = [File]
    while open_:
        model_ = _inner(open_.pop())
        for name, field in getattr(model_, "model_fields", {}).items():
            needed |= {name} if field.is_required() else set()
            open_.append(field.annotation)
        open_ += [one for one in getattr(model_, "__args__", ()) if one is not ...]
    assert needed == set(_PLACEHOLDERS) & needed
    assert {"compose_file", "token", "prop", "playspec", "version"} <= needed


@pytest.mark.parametrize("name", ["compose.yaml", ".mqctl", "..", "a/b", "A", "a_b"])
def test_a_checkout_cannot_be_called_as_what_stands_beside_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "compose.yaml").touch()
    (found,) = errors(
        tmp_path,
        HEAD + "props: {shop: {repository_url: 'git@a:b'}}\n"
        "playspecs: {web: {compose_file: compose.yaml, "
        f"checkouts: {{{name}: {{prop: shop}}}}}}}}\n",
    )
    assert "not a name; 1 to 40 of a-z, 0-9 and -" in found


def test_the_longest_names_make_a_project_that_is_a_directory_s_name(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").touch()
    longest = "a" * 40
    fleet = loaded(
        tmp_path,
        f"version: 1\nfleet: {longest}\nredis: {{url: embedded}}\n"
        "playspecs: {web: {compose_file: compose.yaml}}\n"
        f"marquees: {{{longest}: {{playgrounds: {{{longest}: {{playspec: web}}}},"
        f" agent_chats: {{{longest}: {{image: a}}}}}}}}\n",
    )
    (marquee,) = fleet.marquees
    projects = [one.project for one in marquee.playgrounds]
    projects += [one.project for one in marquee.agent_chats]
    for project in projects:
        # A directory's name may have 255 characters, and Compose adds "-SERVICE-1" to containers.
        assert len(project) <= 127
