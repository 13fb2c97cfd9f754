"""``--dry-run`` tells what the run right after it does, and does nothing itself."""

from __future__ import annotations

import signal

from tests.bed import Host
from tests.support.looks import container_ids, mutating_calls, tree
from tests.support.operators import Operator


def compose(level: str) -> dict[str, object]:
    return {"services": {"web": {"image": "nginx:alpine", "environment": {"LEVEL": level}}}}


def test_a_dry_run_prints_each_action_that_the_run_right_after_performs(
    operator: Operator, east: Host
) -> None:
    operator.bed.git.repo("acme/dry").commit({"README": "one\n"})
    operator.bed.registry.push("acme/fresh:1", marker=operator.fleet)
    operator.prop("shop", "acme/dry")
    operator.playspec("edited", compose("1"))
    operator.playspec("gone", compose("1"))
    for name in ("edited", "gone"):
        operator.playground(name, name)
    assert operator.reconcile().code == 0

    operator.playspec("edited", compose("2"))
    del operator.marquee()["playgrounds"]["gone"]
    operator.playspec("new", {"services": {"web": {"image": "acme/fresh:1"}}})
    operator.playground("new", "new")
    operator.playspec("source", compose("1"), checkouts={"app": {"prop": "shop"}})
    operator.playground("source", "source")
    operator.marquee()["agent_chats"]["helper"] = {"image": "acme/agent:1"}
    before = container_ids(east), tree(operator.place()), operator.bed.redis.cli("KEYS", "*")
    east.reset_counts()

    dry = operator.reconcile("--dry-run")
    assert (dry.code, dry.outcome()) == (0, "planned"), dry
    pending = operator.reconcile("--dry-run", "--detailed-exitcode")
    assert (pending.code, pending.outcome()) == (3, "planned"), pending
    after = container_ids(east), tree(operator.place()), operator.bed.redis.cli("KEYS", "*")
    assert after == before
    assert mutating_calls(east) == []
    assert dry.cycle()["counters"]["guarded_commands"] == 0

    real = operator.reconcile()
    assert (real.code, real.outcome()) == (0, "changed"), real
    told = {
        one["subject"]: one["detail"] for one in dry.cycle()["decisions"] if one["action"] == "skip"
    }
    waits = {subject for subject, detail in told.items() if detail.startswith("depends on ")}
    assert {subject for _, subject in real.done() - dry.done()} <= waits
    assert dry.done() <= real.done()
    assert ("rollout", "playground/edited") in dry.done()
    assert ("remove", f"orphan/{operator.project('gone')}") in dry.done()
    assert ("clone", "checkout/source/app") in dry.done()
    assert "playground/source" in waits


def test_a_dry_run_takes_no_lock_and_names_the_holder(operator: Operator, east: Host) -> None:
    operator.playspec("edited", compose("1"))
    operator.playground("demo", "edited")
    holder = operator.start("reconcile", "east-1", hooks=["phase.started/images=STOP"])
    holder.wait_stopped()
    text = operator.run("reconcile", "east-1", "--dry-run", "-o", "text")
    assert text.code == 0, text
    assert str(holder.process.pid) in text.text + text.errors
    token = holder.seen("lock.acquired")[0]["token"]
    assert operator.bed.redis.cli("GET", operator.key("lock")) == token
    assert mutating_calls(east) == []
    holder.send(signal.SIGCONT)
    assert holder.wait().code == 0
