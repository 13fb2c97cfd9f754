"""A registry that refuses, is gone or hangs: bounded, told per image, and the rest goes on."""

from __future__ import annotations

import pytest

from tests.bed import Host
from tests.states.scenes import compose, cycle
from tests.support.looks import container_ids, running
from tests.support.operators import Operator
from tests.support.ran import Ran

REGISTRY = "registry.example.com:5001"
IMAGE = f"{REGISTRY}/acme/secret:1"


def declare(operator: Operator, level: int) -> None:
    """Both Playspecs; their input changes with the level."""
    env = {"LEVEL": str(level)}
    private = compose(IMAGE, environment=env)
    operator.playspec("needs", private, registries=["private"], pull_policy="always")
    operator.playspec("other", compose("nginx:alpine", environment=env))


@pytest.fixture(scope="module")
def customer(resident: Operator) -> Operator:
    """A Playground that needs the private registry at each cycle, and one that does not."""
    resident.bed.private_registry.push("acme/secret:1", marker="secret")
    account = {"username": "acme", "password": {"env": "PW"}}
    resident.declared["registries"] = {"private": {"host": REGISTRY} | account}
    # What is left of it for a pull is five seconds less.
    resident.declared["policy"]["apply_timeout"] = "15s"
    declare(resident, 1)
    for name in ("needs", "other"):
        resident.playground(name, name)
    resident.environ["PW"] = "pw"
    return resident


def the_rest_goes_on(operator: Operator, level: int) -> Ran:
    """Edit both; check that the one that needs the registry stays and the other one follows."""
    east = operator.hosts["east-1"]
    before = container_ids(east)
    declare(operator, level)
    ran = cycle(operator)
    assert (ran.code, ran.outcome()) == (1, "failed"), ran
    assert ran.fate(f"image/{IMAGE}") == ("pull", "pull-failed", "failed")
    assert ran.fate("playground/needs") == ("skip", "image-failed", "skipped")
    assert ran.fate("playground/other") == ("rollout", "input-changed", "done")
    name = f"{operator.project('needs')}-web-1"
    assert container_ids(east)[name] == before[name]
    assert name in running(east)
    return ran


def test_wrong_credentials_are_told_and_are_no_reason_not_to_bring_up_the_others(
    customer: Operator, east: Host
) -> None:
    customer.environ["PW"] = "wr0ng-passw0rd"
    refused = cycle(customer)
    assert (refused.code, refused.outcome()) == (1, "failed"), refused
    assert refused.fate(f"image/{IMAGE}") == ("pull", "pull-failed", "failed")
    assert "unauthorized" in refused.decision(f"image/{IMAGE}")["detail"]
    assert refused.fate("playground/needs") == ("skip", "image-failed", "skipped")
    assert refused.fate("playground/other") == ("up", "missing", "done")
    assert "wr0ng-passw0rd" not in refused.text + refused.errors
    assert running(east) == {f"{customer.project('other')}-web-1"}

    customer.environ["PW"] = "pw"
    accepted = cycle(customer)
    assert accepted.fate("playground/needs") == ("up", "missing", "done"), accepted
    quiet = cycle(customer)
    assert (quiet.code, quiet.outcome()) == (0, "unchanged"), quiet


def test_a_registry_that_is_down_is_told_and_needed_by_nothing_that_only_has_to_start_again(
    customer: Operator, east: Host
) -> None:
    registry, web = customer.bed.private_registry, f"{customer.project('needs')}-web-1"
    registry.stop()
    try:
        east.docker("stop", web)
        started = cycle(customer)
        assert started.fate(f"image/{IMAGE}") == ("pull", "pull-failed", "failed"), started
        assert started.fate("playground/needs") == ("rollout", "exited", "done"), started
        assert web in running(east)
        the_rest_goes_on(customer, 2)
    finally:
        registry.start()


def test_a_registry_that_hangs_costs_its_limit_and_the_rest_goes_on(customer: Operator) -> None:
    registry = customer.bed.private_registry
    registry.pause()
    try:
        ran = the_rest_goes_on(customer, 3)
    finally:
        registry.resume()
    assert "no answer within 10 s" in ran.decision(f"image/{IMAGE}")["detail"]
    assert ran.steps().count("pull") == 1


def test_when_it_answers_again_what_waited_is_applied(customer: Operator) -> None:
    ran = cycle(customer)
    assert (ran.code, ran.outcome()) == (0, "changed"), ran
    assert ran.fate("playground/needs") == ("rollout", "input-changed", "done")
    assert cycle(customer).outcome() == "unchanged"
