"""A bug in the middle of a cycle."""

from __future__ import annotations

from tests.bed import Host
from tests.support.operators import Operator


def test_a_bug_is_told_once_in_the_answer_and_the_lock_is_free_after_it(
    operator: Operator, east: Host
) -> None:
    hooks = ["phase.started/images=false"]  # a listener that raises what nobody expects
    ended = operator.start("reconcile", "east-1", "-o", "json", hooks=hooks).wait()
    assert ended.code == 70, ended
    assert ended.document["exit_code"] == 70
    assert ended.document["error"]["code"] == 70
    assert "the report is" in ended.errors
    assert operator.bed.redis.cli("EXISTS", operator.key("lock")) == "0"
    assert east.docker("ps", "-aq") == ""
