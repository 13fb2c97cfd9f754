"""The small files that mqctl keeps on the host: what was written comes back, or it raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqctl.host.record import (
    Applied,
    Attempt,
    Failure,
    Marker,
    Record,
    Service,
    Staged,
    Tombstone,
    Unreadable,
    dump,
    load,
)

KINDS = (Marker, Record, Tombstone)
RECORD = Record(
    salt="5a17",
    staged=Staged("base", "digest", {"env": "1"}, services={"web": Service("nginx:1")}),
)


texts = st.text(st.characters(codec="utf-8"), max_size=20)
moments = st.floats(allow_nan=False, allow_infinity=False)
words = st.dictionaries(texts, texts, max_size=2)
lists = st.lists(texts, max_size=2).map(tuple)
ports = st.lists(st.tuples(st.integers(0, 65535), texts, texts), max_size=2).map(tuple)
services = st.dictionaries(
    texts,
    st.builds(Service, texts, st.booleans(), st.integers(), texts, ports, moments, lists, texts),
    max_size=2,
)
records = st.builds(
    Record,
    texts,
    st.none() | st.builds(Staged, texts, texts, words, lists, services, lists, texts, texts),
    st.none()
    | st.builds(Applied, texts, words, services, words, lists, lists, st.integers(), moments),
    st.none() | st.builds(Attempt, texts, st.integers(), moments),
    st.none() | st.builds(Failure, texts, texts, texts, moments, st.booleans(), words),
    st.none() | moments,
    st.none() | moments,
    st.none() | moments,
    st.booleans(),
)
markers = st.builds(Marker, texts, texts, texts)
tombstones = st.builds(
    Tombstone, texts, st.none() | moments, st.none() | texts, st.integers(), moments
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(records | markers | tombstones)
def test_what_was_written_comes_back(value: object) -> None:
    assert load(type(value), dump(value)) == value
    assert dump(value).endswith(b"}\n")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", [b"", b"{}", b"null", b"[]", b"nonsense", b"\xff\xfe", b'{"salt": 1}', b"[" * 100_000]
)
def test_anything_else_is_unreadable(kind: type, text: bytes) -> None:
    with pytest.raises(Unreadable):
        load(kind, text)


@pytest.mark.parametrize("end", [0, 1, 5, -1, -2, -10, -50])
def test_a_file_that_was_cut_is_unreadable(end: int) -> None:
    whole = dump(RECORD).rstrip()
    with pytest.raises(Unreadable):
        load(Record, whole[:end])


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.binary(max_size=80))
def test_garbage_raises_nothing_else(kind: type, text: bytes) -> None:
    with pytest.raises(Unreadable):
        load(kind, text)


def test_a_record_of_a_later_format_is_not_guessed() -> None:
    later = json.loads(dump(RECORD)) | {"format": 2}
    with pytest.raises(Unreadable, match="format"):
        load(Record, json.dumps(later).encode())


def test_a_record_of_an_older_release_lacks_what_came_later() -> None:
    older = json.loads(dump(RECORD))
    del older["stopped"], older["staged"]["networks"], older["staged"]["services"]["web"]["binds"]
    assert load(Record, json.dumps(older).encode()) == RECORD


def test_a_record_of_a_later_release_may_hold_more() -> None:
    later = json.loads(dump(RECORD)) | {"colour": "blue"}
    assert load(Record, json.dumps(later).encode()) == RECORD


def test_what_is_unreadable_says_where_and_not_what() -> None:
    with pytest.raises(Unreadable) as caught:
        load(Marker, b'{"fleet": ["hunter2"], "marquee": "m", "project": "p", "format": 1}')
    assert str(caught.value).startswith("marker: fleet")
    assert "hunter2" not in str(caught.value)
