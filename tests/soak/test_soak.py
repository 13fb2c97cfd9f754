"""Whatever happens, the next cycles make it right, and nobody's work is lost on the way."""

from __future__ import annotations

import os
import random
import sys
import time

import pytest

from tests.bed import Bed
from tests.soak.patient import Patient

MINUTES = float(os.environ.get("MQCTL_SOAK_MINUTES", "10"))
PATIENCE = 240.0  # seconds until it must be as declared again: settling, a TTL, and the repairs


@pytest.mark.soak
@pytest.mark.timeout(int(MINUTES * 60) + 900)
def test_it_comes_right_after_everything_that_happens() -> None:
    seed = int(os.environ.get("MQCTL_SOAK_SEED", time.time_ns() % 1_000_000))
    sys.stderr.write(f"MQCTL_SOAK_SEED={seed}\n")
    chance = random.Random(seed)  # noqa: S311 - it decides what goes wrong, nothing secret
    end = time.monotonic() + MINUTES * 60
    happened = []
    with Bed() as bed:
        patient = Patient(bed, chance)
        patient.recover(PATIENCE)
        patient.begin_work()
        while time.monotonic() < end:
            trouble = chance.choice(patient.troubles())
            happened.append(trouble.__name__)
            sys.stderr.write(f"{trouble.__name__}: ")
            trouble()
            outcomes = patient.recover(PATIENCE)
            sys.stderr.write(f"{', '.join(outcomes)}\n")
            assert patient.work_is_there(), happened
