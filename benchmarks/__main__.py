"""Count and measure; `python -m benchmarks [PLAYGROUNDS]`, 30 of them if not said otherwise."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

from tests.bed import Bed

from benchmarks.fleet import Fleet

RUNS = 5


def median_seconds(act: Callable[[], object], runs: int = RUNS) -> float:
    """Do it several times; give the median of the times."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def counts(fleet: Fleet) -> None:
    """Print what a cycle uses that finds nothing to do."""
    costs = asdict(fleet.costs())
    outcome = costs.pop("outcome")
    if outcome != "unchanged":
        raise RuntimeError(f"the cycle that should find nothing to do was {outcome}")
    print(f"\nA cycle that finds nothing to do, {len(fleet.names)} Playgrounds on one host:")
    for name, number in costs.items():
        print(f"  {name.replace('_', ' '):<22}{number:>5}")


def ratios(fleet: Fleet) -> None:
    """Print how times of this run compare."""
    cycle = median_seconds(fleet.cycle)
    bare_ssh = median_seconds(lambda: fleet.ssh("true"))
    one_by_one = median_seconds(fleet.ask_one_by_one, runs=3)
    python = median_seconds(lambda: fleet.run([sys.executable, "-c", "pass"]))
    rows = [
        ("such a cycle / a bare `ssh HOST true`", cycle / bare_ssh),
        ("asking Playground by Playground, a channel each / such a cycle", one_by_one / cycle),
    ]
    for words in ("--version", "--help", "reconcile --help", "config check"):
        argv = [sys.executable, "-m", "mqctl", *words.split()]
        seconds = median_seconds(lambda argv=argv: fleet.run(argv))  # type: ignore[misc] # bound now
        rows.append((f"mqctl {words} / a bare `python -c pass`", seconds / python))
    print("\nRatios of median times in this run:")
    for name, ratio in rows:
        print(f"  {name:<64}{ratio:6.1f}")


def main() -> int:
    """Run both."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with Bed() as bed:
        fleet = Fleet(bed, size)
        print(f"bringing up {size} Playgrounds, about 4 s each ...", flush=True)
        fleet.cycle()
        counts(fleet)
        ratios(fleet)
    return 0


if __name__ == "__main__":
    sys.exit(main())
