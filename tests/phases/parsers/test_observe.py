"""The first look, read back: the script really runs here, on directories made for it.

Docker's lines in it are recorded ones. What is cut or garbled ends the cycle; it is never taken for
"nothing there".
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqctl.errors import MqctlError, Unreachable
from mqctl.host.facts import Facts
from mqctl.host.observe import parse, parse_project
from mqctl.host.record import Marker, Record, Staged, Tombstone, dump
from mqctl.host.scripts import script

RECORDED = Path(__file__).with_name("recorded")
PROJECT = "acme_east-1_demo"
RECORD = Record(salt="5a17", stopped=True)
STONE = Tombstone("old", 60.0, None, 41, 1.0)
MARKER = Marker("acme", "east-1", PROJECT)


ANSWERS = """
docker_ps() { cat "$RECORDED/ps.txt"; }
docker_images() { cat "$RECORDED/images.txt"; }
docker_networks() { cat "$RECORDED/networks.txt"; }
"""


def look(root: Path, *checkouts: str, broken: str = "") -> bytes:
    """Run ``observe.sh`` in ``root``; the Docker question called ``broken`` fails."""
    fails = f"docker_{broken}() {{ echo no; false; }}" if broken else ""
    text = f"{ANSWERS}\n{fails}\n{script('observe', 'git')}"
    done = subprocess.run(
        ["sh", "-c", text, "sh", *checkouts],
        cwd=root,
        env={
            "MQCTL_DIR": str(root),
            "RECORDED": str(RECORDED),
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
        },
        check=True,
        capture_output=True,
    )
    return done.stdout


def put(root: Path, path: str, content: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Marquee's directory with all that can be in one."""
    root = tmp_path_factory.mktemp("host")
    demo = f"projects/{PROJECT}"
    put(root, f"{demo}/.mqctl/owner.json", dump(MARKER))
    put(root, f"{demo}/.mqctl/record.json", dump(RECORD))
    put(root, f"{demo}/.mqctl/watched", b"compose.yaml\nconf.d/a b.conf\ngone.txt\n")
    put(root, f"{demo}/.mqctl/hold", b"ann \xff looks\n")
    put(root, f"{demo}/compose.yaml", b"services: {}\n")
    put(root, f"{demo}/conf.d/a b.conf", b"")
    put(root, f"{demo}/two\nlines @end", b"")
    put(root, f"{demo}/app/file", b"no git here")
    put(root, "projects/torn/.mqctl/owner.json", dump(Marker("acme", "east-1", "torn")))
    put(root, "projects/torn/.mqctl/record.json", dump(RECORD)[:-9])
    put(root, "projects/foreign/data", b"")
    put(root, "tombstones/acme_east-1_old", dump(STONE))
    put(root, "tombstones/broken", b"{")
    put(
        root,
        "pulled",
        b"sha256:1 1796040000 nginx:1\nsha256:2 soon x\n\ngarbage\nsha256:3 \xc2\xb2 x\n",
    )
    subprocess.run(["git", "init", "-q", root / demo / "lib"], check=True)
    return root


@pytest.fixture(scope="module")
def answer(host: Path) -> bytes:
    """The host's answer to the first look."""
    return look(host, f"projects/{PROJECT}/app", "main", f"projects/{PROJECT}/none", "main")


@pytest.fixture(scope="module")
def facts(answer: bytes) -> Facts:
    return parse(answer)


def test_docker_and_the_clock(facts: Facts) -> None:
    assert facts.host_now > 1_700_000_000
    assert {one.name for one in facts.of_project(PROJECT)} == {"of-compose", "one-off"}
    assert facts.engine_id
    assert facts.disk_free is not None
    assert 0 < facts.disk_free <= 1
    assert facts.pulled == {"sha256:1": 1796040000.0}


def test_a_project_directory(facts: Facts) -> None:
    demo = facts.project(PROJECT)
    assert demo.marker == MARKER
    assert demo.record == RECORD
    assert demo.hold == "ann \ufffd looks"
    assert demo.entries == {".mqctl", "compose.yaml", "conf.d", "two\nlines @end", "app", "lib"}
    assert set(demo.hashes) == {"compose.yaml", "conf.d/a b.conf"}
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert demo.hashes["conf.d/a b.conf"] == empty


def test_checkouts_declared_and_not(facts: Facts) -> None:
    checkouts = facts.project(PROJECT).checkouts
    assert set(checkouts) == {"app", "lib"}
    assert checkouts["app"].dirty  # what is no repository cannot be read, and that is dirty
    assert not checkouts["lib"].dirty


def test_a_torn_record_is_unknown_and_not_empty(facts: Facts) -> None:
    torn = facts.project("torn")
    assert torn.record is None
    assert torn.broken.startswith("record:")
    assert torn.marker is not None


def test_what_is_not_ours_has_no_marker(facts: Facts) -> None:
    assert facts.project("foreign").marker is None
    assert facts.project("foreign").entries == {"data"}
    assert facts.project("never-heard-of").entries == frozenset()


def test_a_record_of_thousands_of_files_is_read(tmp_path: Path) -> None:
    many = {f"file:{'x' * 150}/{number}": "0" * 64 for number in range(5000)}
    record = Record("5a17", Staged("base", "digest", many))
    put(tmp_path, f"projects/{PROJECT}/.mqctl/record.json", dump(record))
    assert parse(look(tmp_path)).project(PROJECT).record == record


def test_tombstones(facts: Facts) -> None:
    assert facts.tombstones == {"acme_east-1_old": STONE}


def test_a_marquee_without_anything(tmp_path: Path) -> None:
    facts = parse(look(tmp_path))
    assert (facts.projects, facts.tombstones, facts.pulled) == ({}, {}, {})


def test_a_marquee_with_an_empty_project_directory(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    assert parse(look(tmp_path)).projects == {}


@pytest.mark.parametrize("broken", ["ps", "images", "networks"])
def test_docker_that_does_not_answer_ends_the_cycle(host: Path, broken: str) -> None:
    with pytest.raises(Unreachable) as caught:
        parse(look(host, broken=broken))
    assert caught.value.why == "no"


def test_an_answer_that_was_cut_anywhere_ends_the_cycle(answer: bytes) -> None:
    whole = len(answer.rstrip())
    for end in [*range(0, whole, 97), whole - 1]:
        with pytest.raises(MqctlError):
            parse(answer[:end])


@pytest.mark.parametrize("section", ["entries", "files"])
@pytest.mark.parametrize("instead", ["", "AAA", "base64: not found", "####", "AAAA"])
def test_garbled_directories_end_the_cycle_and_are_not_empty(
    answer: bytes, section: str, instead: str
) -> None:
    before, mark, rest = answer.decode(errors="replace").partition(f"@{section}\n")
    _, next_mark, after = rest.partition("\n@")
    garbled = f"{before}{mark}{instead}{next_mark}{after}".encode()
    with pytest.raises(MqctlError):
        parse(garbled)


MARKS = ("time", "containers", "images", "networks", "entries", "files", "hashes", "checkouts")
MORE_MARKS = ("pulled", "disk", "inspections", "failed images 1")
noise = st.binary(max_size=20) | st.sampled_from(
    [b"\n@end\n", b"\n@failed ps 1\n", b"\n@hashes\n", b"["]
)
sections = st.builds("@{}\n{}\n".format, st.sampled_from(MARKS + MORE_MARKS), st.text(max_size=60))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), noise), min_size=1, max_size=4))
def test_a_garbled_answer_raises_nothing_but_what_ends_a_cycle(
    answer: bytes, changes: list[tuple[float, int, bytes]]
) -> None:
    text = bytearray(answer)
    for place, length, instead in changes:
        at = int(place * len(text))
        text[at : at + length] = instead
    with contextlib.suppress(MqctlError):
        parse(bytes(text))
    with contextlib.suppress(MqctlError):
        parse_project(bytes(text))


@settings(max_examples=150, deadline=None)
@given(st.lists(sections))
def test_any_sections_raise_nothing_but_what_ends_a_cycle(parts: list[str]) -> None:
    text = "".join([*parts, "@end\n"]).encode(errors="replace")
    with contextlib.suppress(MqctlError):
        parse(text)
    with contextlib.suppress(MqctlError):
        parse_project(text)


def test_one_project_observed_again() -> None:
    ps, images, inspect = (
        (RECORDED / f"{name}.txt").read_text() for name in ("ps", "images", "inspect")
    )
    text = f"@time\n17\n@images\n{images}@containers\n{ps}@inspections\n{inspect}@end\n"
    now, containers = parse_project(text.encode())
    assert now == 17.0
    loops = next(one for one in containers if one.name == "loops")
    assert loops.inspection is not None
    with pytest.raises(Unreachable):
        parse_project(text.replace("@containers", "@failed containers 1\n@containers").encode())
