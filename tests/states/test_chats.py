"""Agents between Docker's word and what their health URL answers."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.bed import Host
from tests.bed.net import free_port
from tests.states.scenes import LONG, cycle, states, wait_for_health
from tests.support.looks import container_ids, volumes
from tests.support.operators import Operator
from tests.support.ran import Ran

SICK = ("refused", "tls", "timeout", "fine")
WELL = ("well", "plain")


class Answers(BaseHTTPRequestHandler):
    """Answers each path as its name says."""

    def do_GET(self) -> None:
        if self.path == "/closed":
            self.close_connection = True
            return
        self.send_response(200 if self.path == "/fine" else 500)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def urls(https_port: int) -> Iterator[dict[str, str]]:
    """A URL for each kind of answer, while it lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    silent = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield {
            "refused": f"http://127.0.0.1:{free_port()}/",
            "not_ok": f"{base}/broken",
            "tls": f"https://127.0.0.1:{https_port}/",  # a certificate that nobody here knows
            "timeout": f"http://127.0.0.1:{silent.getsockname()[1]}/",
            "closed": f"{base}/closed",
            "no_name": "http://no-such-host.invalid/",
            "fine": f"{base}/fine",
        }
    finally:
        silent.close()
        server.shutdown()
        server.server_close()


@dataclass
class Story:
    """Agents that started well, and one cycle after most of them fell ill."""

    operator: Operator
    urls: dict[str, str]
    young: Ran
    ran: Ran
    before: dict[str, str]
    after: dict[str, str]
    declared: dict[str, dict[str, object]] = field(default_factory=dict)

    def agent(self, name: str) -> str:
        return f"{self.operator.fleet}_east-1_chat_{name}-agent-1"

    def kept(self, name: str) -> bool:
        """Whether the cycle left the container as it was."""
        return self.after[self.agent(name)] == self.before[self.agent(name)]


@pytest.fixture(scope="module")
def story(resident: Operator) -> Iterator[Story]:
    """Four agents that Docker calls unhealthy, a healthy one, and one without a health check."""
    east, declared = resident.hosts["east-1"], resident.marquee()["agent_chats"]
    resident.bed.registry.push("acme/healthy:1", "healthy")
    with urls(resident.bed.git.https_port) as known:
        for name in SICK:
            declared[name] = {"image": "acme/healthy:1"}
        declared["well"] = {"image": "acme/healthy:1"}
        declared["plain"] = {"image": "acme/agent:1"}
        started = cycle(resident)
        assert (started.code, started.outcome()) == (0, "changed"), started
        for name in SICK:
            agent = f"{resident.fleet}_east-1_chat_{name}-agent-1"
            east.docker("exec", agent, "sh", "-c", "touch /sick; echo precious >/data/file")
            declared[name]["health_url"] = known[name]
        for name in SICK:
            agent = f"{resident.fleet}_east-1_chat_{name}-agent-1"
            wait_for_health(east, agent, "unhealthy")
        declared["well"]["health_url"] = known["refused"]
        declared["plain"]["health_url"] = known["closed"]
        before = container_ids(east)
        resident.declared["policy"]["chat_grace"] = LONG
        young = cycle(resident, "--dry-run")
        resident.declared["policy"]["chat_grace"] = "0s"
        ran = cycle(resident)
        yield Story(resident, known, young, ran, before, container_ids(east), declared)


def test_an_agent_that_neither_answers_nor_is_healthy_is_made_anew_on_its_volume(
    story: Story, east: Host
) -> None:
    assert story.ran.fate("agent-chat/refused") == ("redeploy", "unhealthy", "done"), story.ran
    assert not story.kept("refused")
    assert east.docker("exec", story.agent("refused"), "cat", "/data/file") == "precious\n"


def test_but_not_sooner_than_its_grace_after_the_last_start(story: Story) -> None:
    assert story.young.fate("agent-chat/refused") == ("skip", "grace", "skipped"), story.young


@pytest.mark.parametrize(("name", "answer"), [("tls", "TLS error"), ("timeout", "timeout")])
def test_an_answer_that_may_be_our_own_fault_is_reported_and_the_agent_left(
    story: Story, name: str, answer: str
) -> None:
    assert story.ran.fate(f"agent-chat/{name}") == ("skip", "unhealthy", "skipped"), story.ran
    detail = story.ran.decision(f"agent-chat/{name}")["detail"]
    assert answer in detail
    assert "left as it runs" in detail
    assert story.kept(name)


def test_an_agent_that_answers_is_well_whatever_docker_says(story: Story) -> None:
    assert story.ran.fate("agent-chat/fine") == ("none", "converged", "done"), story.ran
    assert story.kept("fine")


@pytest.mark.parametrize("name", WELL)
def test_an_agent_in_which_docker_sees_nothing_wrong_is_never_stopped_for_a_missed_check(
    story: Story, name: str
) -> None:
    assert story.ran.fate(f"agent-chat/{name}") == ("skip", "unhealthy", "skipped"), story.ran
    assert story.kept(name)
    assert (story.ran.code, story.ran.outcome()) == (0, "changed")


def test_a_name_that_is_not_found_and_an_answer_that_is_an_error_are_no_answer_either(
    story: Story, east: Host
) -> None:
    declared = story.declared
    declared["tls"]["health_url"] = story.urls["no_name"]
    declared["timeout"]["health_url"] = story.urls["not_ok"]
    declared["well"]["health_url"] = story.urls["no_name"]
    before = container_ids(east)
    ran = cycle(story.operator)
    for name, told in (("tls", "name not found"), ("timeout", "not 2xx, HTTP 500")):
        assert ran.fate(f"agent-chat/{name}") == ("redeploy", "unhealthy", "done"), ran
        assert told in ran.decision(f"agent-chat/{name}")["detail"]
    assert ran.fate("agent-chat/well") == ("skip", "unhealthy", "skipped")
    now = container_ids(east)
    changed = {name for name in now if now[name] != before[name]}
    assert changed == {story.agent("tls"), story.agent("timeout")}


def test_an_agent_that_ended_is_started_and_one_with_another_image_redeployed(
    story: Story, east: Host
) -> None:
    declared, agent = story.declared, story.agent("plain")
    for name in [one for one in declared if one not in {"plain", "fine"}]:
        declared[name]["status"] = "stopped"
    before = container_ids(east)
    east.docker("exec", story.agent("fine"), "rm", "/sick")
    east.docker("stop", "-t", "1", story.agent("fine"))
    east.docker("exec", agent, "sh", "-c", "echo kept >/data/file")
    story.operator.bed.registry.push("acme/agent:1", marker="newer")
    east.docker("pull", "-q", "acme/agent:1")
    kept = volumes(east)
    ran = cycle(story.operator)
    assert ran.fate("agent-chat/fine") == ("start", "exited", "done"), ran
    assert ran.fate("agent-chat/plain") == ("redeploy", "image-moved", "done"), ran
    assert ran.fate("agent-chat/well") == ("stop", "declared-stopped", "done"), ran
    assert container_ids(east)[agent] != before[agent]
    assert east.docker("exec", agent, "cat", "/data/file") == "kept\n"
    assert states(east) == {agent: "running", story.agent("fine"): "running"}
    assert volumes(east) == kept
    assert cycle(story.operator).outcome() == "unchanged"
