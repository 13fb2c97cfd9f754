"""One bed for the whole session, made when a test first asks for it."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bed import Bed, Host
from tests.support.operators import Operator
from tests.support.tidy import tidy

_fleets = itertools.count(1)
_LONG = ("soak", "states", "cycle", "demo", "repo")  # started first, so that no worker ends alone


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folders whose tests take longest come first; within a folder all stays as it is."""
    order = {name: place for place, name in enumerate(_LONG)}
    here = Path(__file__).parent
    items.sort(key=lambda item: order.get(item.path.relative_to(here).parts[0], len(order)))


# A job in the background or under nohup passes on ignored signals, and mqctl rightly goes on
# ignoring them; what the tests start must see them as at a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def shared_bed() -> Iterator[Bed]:
    """Redis, registry and Git server with the images that the demo's projects name."""
    with Bed() as made:
        made.seed_images()
        yield made


@contextmanager
def somebody(bed: Bed, folder: Path) -> Iterator[Operator]:
    """Someone with mqctl, a fleet name that no other test has, and two hosts with nothing on them.

    The declared file has both as Marquees without anything; a test adds what it needs.
    """
    hosts = bed.hosts("east-1", "west-1")
    for host in hosts:
        tidy(host)
    person = Operator(bed, folder, f"fleet-{next(_fleets)}", hosts)
    try:
        yield person
    finally:
        person.leave()


@pytest.fixture
def operator(shared_bed: Bed, tmp_path: Path) -> Iterator[Operator]:
    """Somebody, for one test."""
    with somebody(shared_bed, tmp_path) as person:
        yield person


@pytest.fixture(scope="module")
def resident(shared_bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """Somebody, for all tests of a module: what one test brought up is there for the next."""
    with somebody(shared_bed, tmp_path_factory.mktemp("resident")) as person:
        yield person


@pytest.fixture
def east(shared_bed: Bed) -> Host:
    """The host of the Marquee ``east-1``."""
    return shared_bed.host("east-1")
