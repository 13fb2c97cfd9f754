"""The text of the file: encoding, syntax, bounds, positions. Nothing but ConfigError comes out."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mqctl.config import shared, types
from mqctl.config.load import load
from mqctl.config.nodes import follow
from mqctl.config.positions import MAX_BYTES, MAX_DEPTH, Mistake, parse
from mqctl.errors import ConfigError
from tests.config.support import HEAD, errors, write


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "1:1: the file is empty; `mqctl init` writes one to start from"),
        (b" \n\n", "1:1: the file is empty; `mqctl init` writes one to start from"),
        (b"# nothing\n", "1:1: the file is empty; `mqctl init` writes one to start from"),
        (b"- a\n", "1:1: not a mapping at top level; `key: value` lines are allowed"),
        (b"text", "1:1: not a mapping at top level; `key: value` lines are allowed"),
        (b"a: \xff\n", "1:4: not UTF-8; UTF-8 text is allowed"),
        (b"\xef\xbb\xbfa: 1\nb: \xe9\n", "2:4: not UTF-8; UTF-8 text is allowed"),
        ("a: 1".encode("utf-16"), "1:1: not UTF-8; UTF-8 text is allowed"),
        (b"a: 1\nb: x\0y\n", "2:5: the control character U+0000; printable text is allowed"),
        (b"a: \x1b[31m\n", "1:4: the control character U+001B; printable text is allowed"),
        (b"a:\n\tb: 1\n", "2:1: a tab in the indentation; use spaces"),
        (b"a: 1\n--- \nb: 2\n", "2:1: a second YAML document; one is allowed"),
        (b"a: *b\n", "1:4: an alias whose anchor is not defined above; quote a text that begins"),
        (b"a: &a [*a]\n", "1:8: a[0]: an alias inside of what it names"),
        (b"%YAML 9.9\n---\na: 1\n", "1:1: not YAML: found incompatible YAML document"),
    ],
    ids=lambda value: repr(value)[:24] if isinstance(value, bytes) else "",
)
def test_a_text_that_cannot_be_read(tmp_path: Path, raw: bytes, expected: str) -> None:
    (found,) = errors(tmp_path, raw)
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", "2:2"),
        ("a: 'open\n", "2:1"),
        ("a: 1\n b: 2\n", "2:3"),
        ("a: b: c\n", "1:5"),
        ("a: {b: 1}}\n", "1:10"),
        ("a: @b\n", "1:4"),
        ('a: "\\q"\n', "1:5"),
    ],
)
def test_a_syntax_error_has_its_place_and_nothing_of_the_text(
    tmp_path: Path, text: str, place: str
) -> None:
    (found,) = errors(tmp_path, text)
    assert found.startswith(f"{place}: not YAML: ")


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode()
    assert load(write(tmp_path, raw), {}).name == "acme"


def test_every_key_and_value_has_its_line_and_column() -> None:
    root = parse("a:\n  ключ: [x, {y: 1}]\nb: é\n".encode()).root
    found = follow(root, ("a", "ключ", 1, "y"))
    assert (found.key, found.value) == ((2, 14), (2, 17))
    assert follow(root, ("b",)).value == (3, 4)
    assert follow(root, ("a", "no", "such")).path == ("a",)


def test_all_duplicate_keys_are_listed(tmp_path: Path) -> None:
    text = HEAD + "".join(f"marquees: {{m{n}: {{}}, m{n}: {{}}}}\n" for n in range(50))
    found = errors(tmp_path, text)
    assert len(found) == 50 + 49
    assert all("the key is there twice, first at line" in line for line in found)


def test_a_billion_laughs_are_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    started = time.monotonic()
    (found,) = errors(tmp_path, "\n".join(lines))
    assert "too large with its aliases; 50000 values are allowed" in found
    assert time.monotonic() - started < 2


def test_merge_keys_cannot_fill_the_memory(tmp_path: Path) -> None:
    big = "a: &a {" + ", ".join(f"k{n}: 1" for n in range(20_000)) + "}\n"
    text = big + "b:\n" + "- {<<: *a}\n" * 20_000
    (found,) = errors(tmp_path, text)
    assert "too large with its aliases" in found


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000])
def test_nesting_has_a_limit(tmp_path: Path, text: str) -> None:
    (found,) = errors(tmp_path, text)
    assert f"nested too deep; {MAX_DEPTH} levels are allowed" in found


def test_aliases_cannot_nest_deeper_than_text(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 100)]
    (found,) = errors(tmp_path, "\n".join(lines))
    assert "nested too deep" in found


def test_fifty_megabytes_are_refused_unread(tmp_path: Path) -> None:
    path = write(tmp_path, b"")
    with path.open("r+b") as file:
        file.truncate(50 << 20)
    started = time.monotonic()
    with pytest.raises(ConfigError, match="1 error in"):
        load(path, {})
    assert time.monotonic() - started < 1


def test_the_largest_file_that_is_allowed_is_read_in_seconds(tmp_path: Path) -> None:
    lines = [f"  m{n}: {{host: h{n}, user: deploy}}" for n in range(8_000)]
    text = HEAD + "marquees:\n" + "\n".join(lines) + "\n#" + " " * 10
    assert len(text) < MAX_BYTES
    started = time.monotonic()
    assert len(load(write(tmp_path, text), {}).marquees) == 8_000
    assert time.monotonic() - started < 20


def _all_keys(module: ModuleType) -> list[str]:
    models = [one for one in vars(module).values() if isinstance(one, type(types.File))]
    return sorted({key for model in models for key in model.model_fields})


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.dates()
)
_KEYS = st.sampled_from(
    [key for model in (shared, types) for key in _all_keys(model)] + ["app", "demo", "web"]
)
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(_KEYS, _SCALARS), inner, max_size=6)
    ),
    max_leaves=30,
)


def _only_config_errors(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            load(write(Path(folder), raw), {})
        except ConfigError:
            pass
        else:
            parse(raw)


@settings(max_examples=300, deadline=None)
@given(_DATA)
def test_any_data_is_loaded_or_a_config_error(data: object) -> None:
    _only_config_errors(yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "replace"))


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        _KEYS,
        st.dictionaries(_KEYS, st.dictionaries(_KEYS, _DATA, max_size=4), max_size=4),
        max_size=8,
    )
)
def test_any_arrangement_of_known_keys_is_loaded_or_a_config_error(data: object) -> None:
    _only_config_errors(HEAD.encode() + yaml.safe_dump(data, allow_unicode=True).encode())


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_loaded_or_a_config_error(raw: bytes) -> None:
    _only_config_errors(raw)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="abk1:-?{}[]&*!<,#|>%@'\" \n\t~.", max_size=80))
def test_any_yaml_punctuation_is_parsed_or_a_mistake(text: str) -> None:
    try:
        root = parse(text.encode()).root
    except Mistake as mistake:
        spot = mistake.spot
    else:
        spot = root.spot
        assert isinstance(root.plain(), dict)
    assert spot >= (1, 1)


def test_the_largest_file_that_is_wrong_everywhere_is_judged_in_seconds(tmp_path: Path) -> None:
    lines = [f"  m{n}: {{hots: h, playgrounds: {{a: {{playspec: x{n}}}}}}}" for n in range(8_000)]
    started = time.monotonic()
    assert len(errors(tmp_path, HEAD + "marquees:\n" + "\n".join(lines))) == 16_000
    assert time.monotonic() - started < 30
