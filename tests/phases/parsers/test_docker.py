"""What Docker's command line prints. ``recorded/`` is what Docker 20.10 really printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.host import docker
from mqctl.host.facts import Container, Port
from tests.phases.notation.containers import LABELS, row

RECORDED = Path(__file__).with_name("recorded")
IMAGES = docker.parse_images((RECORDED / "images.txt").read_text())
SEEN = {
    one.name: one
    for one in docker.parse_containers((RECORDED / "ps.txt").read_text(), IMAGES)
}  # fmt: skip


def test_every_row_is_read() -> None:
    rows = [line for line in (RECORDED / "ps.txt").read_text().splitlines() if line]
    assert len(SEEN) == len(rows)


@pytest.mark.parametrize(
    ("name", "state", "health", "code", "up_at_most"),
    [
        ("published", "running", "", None, 18.0),
        ("well", "running", "healthy", None, 14.0),
        ("ill", "running", "unhealthy", None, 14.0),
        ("begins", "running", "starting", None, 13.0),
        ("paused", "paused", "", None, 15.0),
        ("never-started", "created", "", None, None),
        ("one-off", "exited", "", 3, None),
        ("loops", "restarting", "", 4, None),
    ],
)
def test_the_states_of_containers(
    name: str, state: str, health: str, code: int | None, up_at_most: float | None
) -> None:
    one = SEEN[name]
    assert (one.state, one.health, one.exit_code) == (state, health, code)
    assert one.up_at_most == up_at_most
    assert one.running == (state == "running")
    assert one.up == (state in {"running", "paused", "restarting"})


def test_the_labels_that_say_whose_it_is() -> None:
    one, run = SEEN["of-compose"], SEEN["one-off"]
    assert (one.project, one.service, one.one_off) == ("acme_east-1_demo", "web", False)
    assert (one.fleet, one.marquee, one.playground, one.agent_chat) == (
        "acme",
        "east-1",
        "demo",
        "",
    )
    assert (run.project, run.one_off, run.fleet) == ("acme_east-1_demo", True, "")


def test_labels_may_hold_anything() -> None:
    one = SEEN["hostile"]
    assert one.fleet == 'two\nlines "quoted" back\\slash <b>&amp; \x1b[31mred\x1b[0m é 漢 , a=b'
    assert one.marquee == "\t tab"
    assert one.project == ""


def test_published_ports() -> None:
    assert set(SEEN["published"].ports) == {
        Port(8080),
        Port(5353, "udp", "127.0.0.1"),
        Port(9000),
        Port(9001),
        Port(9002),
        Port(8443, "tcp", "::1"),
    }


def test_a_name_is_its_own_and_not_what_links_call_it() -> None:
    assert "renamed" in SEEN
    assert not any("/" in name or "," in name for name in SEEN)


def test_a_container_knows_its_image_after_the_tag_has_moved_on() -> None:
    now = IMAGES["redis:alpine"]
    assert SEEN["published"].image_id == IMAGES["nginx:alpine"]
    assert SEEN["tag-moved"].image_id.startswith("sha256:")
    assert SEEN["tag-moved"].image_id != now


def test_images_are_found_by_tag_and_by_digest() -> None:
    digests = [name for name in IMAGES if "@" in name]
    assert len(digests) >= 4
    assert {"nginx:alpine", "redis:alpine", "registry.example.com:5001/acme/redis:7"} <= set(IMAGES)
    by_digest = {IMAGES[name] for name in digests if name.startswith("redis@")}
    assert IMAGES["redis:alpine"] in by_digest
    assert len(by_digest) == 3  # two older ones have lost their tag


def test_an_image_without_any_name_stands_for_itself() -> None:
    nameless = [name for name in IMAGES if name.startswith("sha256:")]
    assert len(nameless) == 2  # built without a tag, and built again under the same tag
    assert all(IMAGES[name] == name for name in nameless)


def test_networks_and_the_engine() -> None:
    networks = docker.parse_networks((RECORDED / "networks.txt").read_text())
    by_name = {one.name: one for one in networks}
    old = by_name["acme_east-1_old_default"]
    assert (old.project, old.fleet, old.marquee) == ("acme_east-1_old", "acme", "east-1")
    assert by_name["odd"].project == 'a b\t"c"\nd\\ é <>&'
    assert docker.engine_id(networks) == by_name["none"].id
    assert docker.engine_id(()) == ""


def test_inspections() -> None:
    found = docker.parse_inspections((RECORDED / "inspect.txt").read_text())
    containers = {one.name: one for one in docker.inspected(SEEN.values(), found)}
    loops, ill = containers["loops"].inspection, containers["ill"].inspection
    assert loops is not None
    assert ill is not None
    assert (loops.restart_count, loops.exit_code, loops.health) == (6, 4, "")
    assert (ill.restart_count, ill.health) == (0, "unhealthy")
    assert ill.started_at.startswith("2026-11-30T")
    assert containers["published"].inspection is None


@pytest.mark.parametrize(
    ("status", "seconds"),
    [
        ("Up Less than a second", 1.0),
        ("Up 1 second", 2.0),
        ("Up 59 seconds", 60.0),
        ("Up About a minute", 120.0),
        ("Up 2 minutes (healthy)", 180.0),
        ("Up About an hour", 7200.0),
        ("Up 47 hours", 48 * 3600.0),
        ("Up 3 days", 4 * 86400.0),
        ("Up 2 weeks (unhealthy)", 3 * 604800.0),
        ("Up 5 months", 6 * 2678400.0),
        ("Up 3 years", 4 * 31622400.0),
        ("Exited (0) 5 minutes ago", None),
        ("Created", None),
        ("", None),
        ("Up " + "9" * 400 + " hours", None),
    ],
)
def test_how_long_it_can_have_been_up(status: str, seconds: float | None) -> None:
    assert _container(status=status).up_at_most == seconds


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("", []),
        ("80/tcp", []),
        ("0.0.0.0:3000->3000/tcp, :::3000->3000/tcp", [Port(3000)]),
        ("[::]:3000->3000/tcp", [Port(3000)]),
        ("[::1]:3000->3000/tcp", [Port(3000, "tcp", "::1")]),
        ("10.0.0.1:53->53/udp", [Port(53, "udp", "10.0.0.1")]),
        ("0.0.0.0:80-82->80-82/tcp", [Port(80), Port(81), Port(82)]),
        ("0.0.0.0:8000-8001->80/sctp", [Port(8000, "sctp"), Port(8001, "sctp")]),
        ("3306/tcp, 33060/tcp, 127.0.0.1:1->1/tcp", [Port(1, "tcp", "127.0.0.1")]),
        ("0.0.0.0:1-99999999999->1/tcp", []),
        ("nonsense->, ->, :->/", []),
    ],
)
def test_how_ports_are_written(text: str, ports: list[Port]) -> None:
    assert list(docker.parse_ports(text)) == ports


@pytest.mark.parametrize(
    ("one", "other", "collide"),
    [
        (Port(80), Port(80), True),
        (Port(80), Port(81), False),
        (Port(80), Port(80, "udp"), False),
        (Port(80), Port(80, "tcp", "10.0.0.1"), True),
        (Port(80, "tcp", "10.0.0.1"), Port(80, "tcp", "10.0.0.1"), True),
        (Port(80, "tcp", "10.0.0.1"), Port(80, "tcp", "10.0.0.2"), False),
    ],
)
def test_which_ports_cannot_both_be_published(one: Port, other: Port, collide: bool) -> None:
    assert one.collides(other) == other.collides(one) == collide


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1.27", "nginx:1.27"),
        ("library/nginx", "nginx:latest"),
        ("docker.io/nginx", "nginx:latest"),
        ("docker.io/library/nginx:1", "nginx:1"),
        ("index.docker.io/library/nginx:1", "nginx:1"),
        ("docker.io/acme/agent:1", "acme/agent:1"),
        ("registry.example.com:5001/acme/agent", "registry.example.com:5001/acme/agent:latest"),
        ("registry.example.com:5001/acme/agent:2", "registry.example.com:5001/acme/agent:2"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
        ("nginx:1@sha256:abc", "nginx@sha256:abc"),
        ("registry:5000/a/b:1@sha256:abc", "registry:5000/a/b@sha256:abc"),
    ],
)
def test_references_as_docker_lists_them(reference: str, canonical: str) -> None:
    assert docker.canonical(reference) == canonical
    assert docker.canonical(canonical) == canonical


@given(st.lists(st.text(), min_size=14, max_size=14), st.text())
def test_whatever_labels_and_names_hold_a_row_stays_a_row(values: list[str], noise: str) -> None:
    line = " ".join(json.dumps(value, ensure_ascii=False) for value in values)
    (only,) = [one for one in docker.rows(f"{line}\n") if len(one) == 14]
    assert only == values
    # A warning of the client or of a login shell may come before or after, on its own line.
    docker.parse_containers(f"{noise}\n{line}\n{noise}", {})


@pytest.mark.parametrize(
    "noise",
    ['WARNING: "unclosed', "[" * 100_000, "{" * 5000, '"a" "b"', "null", "NaN " * 3, '"x" ' * 13],
)
def test_noise_is_no_row(noise: str) -> None:
    line = row(name="web", image="nginx:1", state="running", ports=[], labels={})
    found = docker.parse_containers(f"{noise}\n{line}\n{noise}\n", {})
    assert [one.name for one in found] == ["web"]


@given(st.text(max_size=200))
def test_garbage_is_never_taken_for_anything(text: str) -> None:
    docker.parse_images(text)
    docker.parse_networks(text)
    docker.parse_inspections(text)
    docker.parse_ports(text)
    docker.canonical(text)


@pytest.mark.parametrize(
    "line",
    [
        '"id" {"ExitCode": "many"} 0',
        '"id" {"ExitCode": null} 0',
        '"id" {"Health": {"Status": "healthy"}} 0',
        '"id" {"ExitCode": 0} "never"',
        '"id" [] 0',
    ],
)
def test_an_inspection_of_another_form_tells_nothing(line: str) -> None:
    assert docker.parse_inspections(line) == {}


def _container(*, status: str) -> Container:
    values = ["id", "web", "nginx:1", "running", status, "", "", *("" for _ in LABELS)]
    line = " ".join(json.dumps(value) for value in values)
    return docker.parse_containers(line, {})[0]
