"""What ``docker compose config`` says. ``recorded/`` is what Compose 2.26 really answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.host.compose import (
    INPUT_LABEL,
    Layout,
    Resolved,
    claimed_ports,
    override,
    parse_config,
    seconds,
    service_inputs,
)
from mqctl.host.facts import Port
from mqctl.host.record import Service
from mqctl.model import ComposeFile

RECORDED = Path(__file__).with_name("recorded")
OTHERS = Path(__file__).parents[2] / "cases" / "compose"
BESIDE = Layout.of(ComposeFile("/home/ann/web/compose.yaml"))


def resolved(name: str, raw: Path, base: str) -> Resolved:
    return parse_config((RECORDED / f"{name}.json").read_text(), raw.read_text(), base, BESIDE)


KITCHEN = resolved("kitchen", RECORDED / "kitchen.yaml", "/srv/shop")


def other(name: str) -> Resolved:
    return resolved(name, OTHERS / name / "compose.yaml", f"/srv/{name}")


def test_services_images_and_scales() -> None:
    told = {name: (one.image, one.build, one.scale) for name, one in KITCHEN.services.items()}
    assert told == {
        "batch": ("batch:1", False, 2),
        "child": ("base:1", False, 1),
        "extra": ("extra:1", False, 1),
        "off": ("off:1", False, 0),
        "web": ("nginx:1", False, 1),
        "worker": ("", True, 3),
    }


def test_ports_that_are_sure_to_be_published() -> None:
    assert set(claimed_ports(KITCHEN.services)) == {
        Port(8080),
        Port(8443, "tcp", "127.0.0.1"),
        Port(53, "udp"),
        Port(9000, "tcp", "::1"),
        Port(9001),
        Port(9100),
        Port(9101),
        Port(8081),
    }


def test_names_graces_and_networks() -> None:
    assert KITCHEN.services["web"].container_name == "the-web"
    assert KITCHEN.services["web"].stop_grace == 90.0
    assert KITCHEN.services["batch"].stop_grace == 10.0
    assert KITCHEN.networks == ("default", "front")  # the external one is not ours to label


def test_files_that_compose_looks_at() -> None:
    assert KITCHEN.references == (
        "base.yaml",
        "more/compose.yaml",
        "motd.txt",
        "optional.env",
        "token.txt",
        "web.env",
    )
    assert KITCHEN.services["web"].binds == (
        "nginx.conf",
        "html",
        "/etc/hosts",
        "motd.txt",
        "token.txt",
    )
    assert KITCHEN.services["web"].input  # the inline config, hashed


def test_the_layout_in_a_checkout() -> None:
    assert Layout(".", "compose.yaml") == BESIDE
    assert Layout.of(ComposeFile("compose.yaml", "app")) == Layout("app", "app/compose.yaml")
    deep = Layout.of(ComposeFile("deploy/dev/compose.yaml", "app"))
    assert deep == Layout("app/deploy/dev", "app/deploy/dev/compose.yaml")
    raw = "services: {web: {env_file: [../common.env, dev.env]}}"
    answer = '{"services": {"web": {"image": "x"}}}'
    found = parse_config(answer, raw, "/srv/shop", deep)
    assert found.references == ("app/deploy/common.env", "app/deploy/dev/dev.env")


@pytest.mark.parametrize(
    ("name", "ports"),
    [
        ("gitea-postgres", {Port(3000)}),
        ("prometheus-grafana", {Port(3000), Port(9090)}),
        ("nextcloud-redis-mariadb", {Port(80)}),
        ("wordpress-mysql", {Port(80)}),
    ],
)
def test_projects_of_other_people(name: str, ports: set[Port]) -> None:
    found = other(name)
    assert set(claimed_ports(found.services)) == ports
    assert all(one.image for one in found.services.values())


def test_bind_mounts_of_other_people() -> None:
    services = other("prometheus-grafana").services
    assert services["prometheus"].binds == ("prometheus",)
    assert services["grafana"].binds == ("grafana",)
    assert services["grafana"].container_name == "grafana"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10s", 10.0), ("1m30s", 90.0), ("500ms", 0.5), ("1h0m0s", 3600.0), ("1.5s", 1.5), ("", 0.0)],
)
def test_go_durations(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize("answer", ["", "nonsense", '{"services": ', "\x00"])
def test_an_answer_that_was_cut_is_an_error(answer: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_config(answer, "", "/srv", BESIDE)


@given(st.text(max_size=200))
def test_a_compose_file_that_only_compose_understands_names_no_files(raw: str) -> None:
    parse_config('{"services": {}}', raw, "/srv/shop", BESIDE)


HOSTILE = ("a: &a [*a]", "[" * 400, "services: [1, 2]", "!!python/x y", "services: {a: b}")


@pytest.mark.parametrize("raw", HOSTILE)
def test_a_hostile_compose_file_names_no_files(raw: str) -> None:
    assert parse_config('{"services": {}}', raw, "/srv/shop", BESIDE).references == ()


def test_the_override_says_whose_it_is_and_nothing_on_volumes() -> None:
    labels = {"mqctl.fleet": "acme", "mqctl.playground": "demo"}
    inputs = dict.fromkeys(KITCHEN.services, "") | {"web": "abc"}
    document = json.loads(override(KITCHEN.services, KITCHEN.networks, labels, inputs))
    assert set(document) == {"services", "networks"}
    assert document["services"]["web"]["labels"] == {**labels, INPUT_LABEL: "abc"}
    assert document["services"]["batch"]["labels"] == labels
    assert document["networks"] == {"default": {"labels": labels}, "front": {"labels": labels}}


SERVICES = {
    "conf": Service(binds=("nginx.conf",)),
    "folder": Service(binds=("conf.d",)),
    "all": Service(binds=(".",)),
    "code": Service(binds=("app/src",)),
    "inline": Service(input="abc"),
    "none": Service(),
}
INPUTS = {
    "env": "1",
    "file:nginx.conf": "1",
    "file:conf.d/site.conf": "1",
    "file:conf.d2/x": "1",
    "ref:web.env": "1",
    "commit:app": "1",
    "commit:ap": "1",
}


@pytest.mark.parametrize(
    ("changed", "recreated"),
    [
        ("env", set()),
        ("file:nginx.conf", {"conf", "all"}),
        ("file:conf.d/site.conf", {"folder", "all"}),
        ("file:conf.d2/x", {"all"}),
        ("ref:web.env", {"all"}),
        ("commit:app", {"code"}),
        ("commit:ap", set()),
    ],
)
def test_exactly_the_services_that_use_a_file_are_made_anew(
    changed: str, recreated: set[str]
) -> None:
    before = service_inputs(SERVICES, INPUTS)
    after = service_inputs(SERVICES, {**INPUTS, changed: "2"})
    assert {name for name in SERVICES if before[name] != after[name]} == recreated
    assert before["none"] == ""
