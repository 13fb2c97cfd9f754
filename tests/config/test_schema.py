"""The JSON Schema: complete, described, and with the defaults as they are written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mqctl.config.load import load
from mqctl.config.schema import schema
from mqctl.config.show import show
from mqctl.config.warnings import cautions, covered
from tests.config.support import CASES, HEAD, HOME, TOP, loaded


def _definitions() -> dict[str, dict[str, Any]]:
    made = schema()
    return {"File": made, **made["$defs"]}


def test_it_is_json_with_a_dialect_and_a_title() -> None:
    made = json.loads(json.dumps(schema()))
    assert made["$schema"].startswith("https://json-schema.org/")
    assert made["title"] == "mqctl declared file"


@pytest.mark.parametrize("name", _definitions())
def test_every_key_is_described_and_nothing_else_is_allowed(name: str) -> None:
    definition = _definitions()[name]
    section = definition.get("anyOf", [definition])[-1]
    assert section["additionalProperties"] is False
    assert section["description"]
    for key, one in section["properties"].items():
        assert one.get("description"), key


def test_every_default_of_the_policy_is_a_text_of_the_file() -> None:
    properties = _definitions()["Policy"]["properties"]
    assert {key: one["default"] for key, one in properties.items()} == {
        "rollout_budget": 3,
        "apply_grace": "3m",
        "rollout_cooldown": "10m",
        "unhealthy_after": "5m",
        "health_wait": "1m30s",
        "ttl": "never",
        "chat_grace": "2m",
        "orphan_grace": "10m",
        "image_retention": "7d",
        "connect_timeout": "8s",
        "command_timeout": "5m",
        "apply_timeout": "10m",
        "shutdown_grace": "10s",
    }
    assert _definitions()["Lock"]["properties"]["ttl"]["default"] == "15m"
    assert _definitions()["Redis"]["properties"]["timeout"]["default"] == "2s"


def test_every_pattern_is_one_for_editors() -> None:
    for pattern in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(schema())):
        assert "(?P" not in re.compile(json.loads(pattern)).pattern


def test_what_is_in_force_can_be_written_as_yaml_and_json() -> None:
    for path in (*CASES.glob("good/*.yaml"), TOP / "marquees.example.yaml"):
        shown = show(load(path, HOME))
        assert json.loads(json.dumps(shown)) == yaml.safe_load(yaml.safe_dump(shown)) == shown


def test_what_is_in_force_shows_no_secret(tmp_path: Path) -> None:
    fleet = loaded(
        tmp_path,
        HEAD
        + "marquees: {m: {agent_chats: {h: {image: a, env: {API_TOKEN: hunter2, A: {env: B}}}}}}\n"
        "triggers: {t: {webhook: {url: 'https://hooks.example.com/hunter2?x=hunter2'}}}\n",
    )
    text = json.dumps(show(fleet))
    assert "hunter2" not in text
    assert '"*** (env B)"' in text
    assert any("env.API_TOKEN: looks like a secret" in one for one in cautions(fleet))
    assert not any("hunter2" in one for one in cautions(fleet))


def test_a_limit_that_the_lease_cuts_is_a_caution(tmp_path: Path) -> None:
    fleet = loaded(
        tmp_path,
        HEAD + "lock: {ttl: 1m}\nmarquees: {a: {}, b: {policy: {command_timeout: 30s}}}\n",
    )
    found = [one for one in cautions(fleet) if "lock.ttl" in one]
    assert found == [
        "command_timeout 5m of a: lock.ttl 1m cuts it to 54s300ms",
        "apply_timeout 10m of a, b: lock.ttl 1m cuts it to 54s300ms",
        "health_wait 1m30s of a, b: lock.ttl 1m cuts it to 54s300ms",
    ]
    assert covered(60) == pytest.approx(60 - 0.6 - 0.05 - 5)


@pytest.mark.parametrize(
    ("text", "caution"),
    [
        ("marquees: {m: {host: local, user: x, port: 22}}", "user, port not used, since host is"),
        ("marquees: {m: {host: a}}", "marquees.m: not launchable without user"),
        ("marquees: {m-: {host: a, user: x}}", "m- ends with a dash"),
        ("lock: {ttl: 2d}", "lock.ttl 2d: a cycle that dies keeps its Marquee locked"),
        ("marquees: {m: {host: a, user: x, identity_file: no}}", "/no is not there"),
        ("redis: {url: embedded, password: {env: A}}", "redis.password: not used with an embedded"),
    ],
)
def test_cautions(tmp_path: Path, text: str, caution: str) -> None:
    head = HEAD if not text.startswith("redis") else "version: 1\nfleet: acme\n"
    assert any(caution in one for one in cautions(loaded(tmp_path, head + text + "\n")))


def test_a_secret_file_that_others_can_read_is_a_caution(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hunter2")
    (tmp_path / "key").chmod(0o644)
    text = "version: 1\nfleet: acme\nredis: {url: 'redis://r', password: {file: key}}\n"
    (found,) = cautions(loaded(tmp_path, text))
    assert found == f"redis.password: group or world can read {tmp_path}/key, so it will be refused"
    (tmp_path / "key").chmod(0o600)
    assert cautions(loaded(tmp_path, text)) == []
