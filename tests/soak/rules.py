"""What must be true of every cycle, whatever happened before it."""

from __future__ import annotations

import json
from datetime import datetime

from mqctl.phases.reasons import Reason
from tests.soak.hand import BUDGET, COOLDOWN, Hand
from tests.support.ran import Json, Ran

NEWS = {"input-changed", "commit-moved", "image-moved"}  # these wait for no cooldown
WAITS = {"cooldown", "grace", "budget"}
REPAIRS = {"rollout", "restart"}


def last_repairs(hand: Hand) -> dict[str, float]:
    """When each Playground was repaired last (seconds since the epoch), by its record."""
    found = {}
    for name in hand.names:
        path = hand.operator.directory(name) / ".mqctl" / "record.json"
        record = json.loads(path.read_text()) if path.exists() else {}
        found[name] = record.get("last_repair_at") or 0.0
    return found


def check(ran: Ran, hand: Hand, repaired: dict[str, float]) -> None:
    """Hold one cycle against the rules. ``repaired`` is what ``last_repairs`` said before it."""
    about = [one for one in decisions(ran) if one["phase"] == "playgrounds"]
    assert ran.code == 0, ran
    assert {one["reason"] for one in decisions(ran)} <= set(Reason), ran
    assert len(about) == len(hand.names), ran
    assert sum(one["action"] == "rollout" for one in about) <= BUDGET, ran
    looked = moment(ran, "phase.started", phase="playgrounds")
    for one in about:
        name = one["subject"].partition("/")[2]
        if one["action"] in {*REPAIRS, "up", "recover", "stop", "expire"}:
            assert name in hand.touched, f"nobody disturbed {name}: {ran}"
            assert one["action"] != "rollout" or name not in hand.work, ran
        if one["action"] in REPAIRS and one["reason"] not in NEWS:
            assert looked >= repaired[name] + COOLDOWN, f"{name} was repaired too soon: {ran}"
    assert hand.work_is_untouched(), ran


def decisions(ran: Ran) -> list[Json]:
    """All decisions of the cycle."""
    found: list[Json] = ran.cycle()["decisions"]
    return found


def settled(ran: Ran) -> bool:
    """Whether nothing was done and nothing waits for its time."""
    return ran.outcome() == "unchanged" and not any(
        one["reason"] in WAITS for one in decisions(ran)
    )


def moment(ran: Ran, event: str, **fields: object) -> float:
    """When an event was told, in seconds since the epoch."""
    text = next(
        one["at"]
        for one in ran.events
        if one["event"] == event and all(one.get(key) == fields[key] for key in fields)
    )
    return datetime.fromisoformat(text).timestamp()
