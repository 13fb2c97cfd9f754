"""What mqctl cannot see, or does not know, it does not touch."""

from __future__ import annotations

from tests.bed import Host
from tests.bed.keys import known_hosts_lines, make_key
from tests.support.looks import container_ids
from tests.support.operators import Operator

PLAIN = {"services": {"web": {"image": "nginx:alpine"}}}


def test_an_unreachable_docker_changes_nothing_and_five_times_in_a_row_is_quarantine(
    operator: Operator, east: Host
) -> None:
    operator.playspec("plain", PLAIN)
    operator.playground("demo", "plain")
    east.stop_docker()
    try:
        for strike in range(1, 6):
            blind = operator.start("reconcile", "east-1").wait()
            assert (blind.code, blind.outcome()) == (69, "unreachable"), blind
            assert blind.cycle()["decisions"] == []
            assert blind.steps() == []
            events = [one for one in blind.events if one["event"] == "marquee.quarantined"]
            assert len(events) == (strike == 5)
            if strike < 4:
                continue
            (shown,) = operator.run("lock", "status", "east-1").document["locks"]
            assert (shown["quarantined"], shown["state"]) == (strike == 5, "free")
    finally:
        east.start_docker()
    assert container_ids(east) == {}
    seeing = operator.reconcile()
    assert (seeing.code, seeing.outcome()) == (0, "changed"), seeing
    (shown,) = operator.run("lock", "status", "east-1").document["locks"]
    assert shown["quarantined"] is False


def test_an_unknown_host_key_and_a_changed_one_are_refused(operator: Operator, east: Host) -> None:
    known = operator.folder / "known_hosts"
    operator.marquee()["known_hosts_file"] = str(known)
    known.write_text("")
    unknown = operator.reconcile()
    assert (unknown.code, unknown.outcome()) == (77, "refused"), unknown
    assert "unknown" in unknown.document["error"]["what"]
    names = (east.address, f"[{east.name}]:{east.port}", east.name)
    known.write_text(known_hosts_lines(make_key(operator.folder / "other"), *names))
    changed = operator.reconcile()
    assert (changed.code, changed.outcome()) == (77, "refused"), changed
    assert "changed" in changed.document["error"]["what"]
    assert operator.bed.redis.cli("EXISTS", operator.key("lock")) == "0"
    known.write_text(known_hosts_lines(east.host_key, *names))
    assert operator.reconcile().code == 0
