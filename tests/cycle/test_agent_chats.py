"""An agent comes and goes; its data volume outlives all of that."""

from __future__ import annotations

from tests.bed import Host
from tests.support.looks import container_ids, running, volumes
from tests.support.operators import Operator


def test_an_agent_chat_starts_is_left_alone_and_keeps_its_data_through_redeploy_and_stop(
    operator: Operator, east: Host
) -> None:
    chat = operator.marquee()["agent_chats"]
    chat["helper"] = {"image": "acme/agent:1", "data_path": "/data", "env": {"MODE": "a"}}
    name = f"{operator.fleet}_east-1_chat_helper"
    agent, volume = f"{name}-agent-1", f"{name}_data"

    started = operator.reconcile()
    assert (started.code, started.outcome()) == (0, "changed"), started
    assert started.fate("agent-chat/helper") == ("start", "missing", "done")
    east.docker("exec", agent, "sh", "-c", "echo precious >/data/file")

    quiet = operator.reconcile()
    assert (quiet.code, quiet.outcome()) == (0, "unchanged"), quiet
    before = container_ids(east)

    chat["helper"]["env"] = {"MODE": "b"}
    redeployed = operator.reconcile()
    assert redeployed.fate("agent-chat/helper") == ("redeploy", "input-changed", "done"), redeployed
    assert container_ids(east)[agent] != before[agent]
    assert east.docker("exec", agent, "cat", "/data/file") == "precious\n"
    assert "MODE=b" in east.docker("exec", agent, "env")

    chat["helper"]["status"] = "stopped"
    stopped = operator.reconcile()
    assert stopped.fate("agent-chat/helper") == ("stop", "declared-stopped", "done"), stopped
    assert container_ids(east) == {}
    assert volumes(east) == {volume}

    chat["helper"]["status"] = "active"
    again = operator.reconcile()
    assert again.fate("agent-chat/helper") == ("start", "missing", "done"), again
    assert running(east) == {agent}
    assert east.docker("exec", agent, "cat", "/data/file") == "precious\n"
