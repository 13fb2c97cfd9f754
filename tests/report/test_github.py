"""GitHub Actions: groups, annotations, a step summary; and no commands from the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mqctl.events import Event
from mqctl.report.github import (
    Annotations,
    Groups,
    StepSummary,
    defuse,
    escape_data,
    escape_property,
)
from mqctl.report.lines import Lines
from mqctl.secret import MASK
from tests.report.runs import FAILED, FixedClock, changed, failed, held, run, unreachable


def annotations_of(events: list[Event]) -> list[str]:
    written: list[str] = []
    listener = Annotations(written.append)
    for event in events:
        listener(event)
    return written


def test_a_failed_decision_becomes_an_annotation() -> None:
    (line,) = annotations_of(run(changed(), failed()))
    command, _, message = line.partition("shop::")
    assert command == "::error title=mqctl east-1 playground/"
    assert message.split("%0A") == [
        "rollout playground/shop: port-taken: port 80 is taken by legacy-web",
        "free the port on the host, or publish another one in the Compose file",
    ]


def test_a_cycle_that_could_not_run_becomes_an_annotation() -> None:
    (line,) = annotations_of(run(unreachable()))
    message = "west-1 cannot be reached%0Atimed out after 8 s%0Acheck the host"
    assert line == f"::error title=mqctl west-1::{message}"
    assert annotations_of(run(held(exit_code=0))) == []


def test_escapes_are_those_of_the_toolkit() -> None:
    assert escape_data("100%\r\n: ,") == "100%25%0D%0A: ,"
    assert escape_property("a: b, c%") == "a%3A b%2C c%25"


def test_data_cannot_give_commands() -> None:
    evil = replace(
        FAILED,
        subject="playground/x::add-mask::",
        detail="::stop-commands::x\n::error::y ##[warning]",
    )
    (line,) = annotations_of(run(failed(decision=evil)))
    assert "\n" not in line
    assert line.startswith("::error title=mqctl east-1 playground/x%3A%3Aadd-mask%3A%3A::")
    assert defuse("::error::x") == " ::error::x"
    assert defuse("a ##[error]x") == "a ## [error]x"


def grouped(events: list[Event], *, many: bool) -> list[str]:
    written: list[str] = []
    groups = Groups(written.append, many=many)
    listener = groups.wrap(Lines(groups.line, FixedClock()))
    for event in events:
        listener(event)
    return written


def test_one_marquee_is_logged_as_it_goes() -> None:
    written = grouped(run(changed()), many=False)
    assert written[0] == "::group::east-1"
    assert written[-1] == "::endgroup::"
    assert len(grouped(run(changed())[:4], many=False)) == 4


def test_groups_of_several_marquees_do_not_interleave() -> None:
    one, two = changed("east-1"), failed("west-1")
    mixed = [event for pair in zip(one, two, strict=False) for event in pair] + one[len(two) :]
    written = grouped([*mixed, run(one, two)[-1]], many=True)
    starts = [index for index, line in enumerate(written) if line.startswith("::group::")]
    ends = [index for index, line in enumerate(written) if line == "::endgroup::"]
    assert [written[index] for index in starts] == ["::group::west-1", "::group::east-1"]
    assert starts[0] < ends[0] < starts[1] < ends[1]
    assert all(line.startswith("west-1") for line in written[starts[0] + 1 : ends[0]])
    assert written[-1] == "2 Marquees: 1 changed, 1 failed"


def test_the_step_summary_is_a_table_of_text(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    MASK.add("s3cr3t-value")
    evil = replace(FAILED, detail="<img src=x> | [a](b) @octocat `x` \n# s3cr3t-value")
    listener = StepSummary(path)
    for event in run(changed(), failed("west-1", evil)):
        listener(event)
    text = path.read_text()
    assert text.startswith("before\n## mqctl reconcile\n\n2 Marquees: 1 changed, 1 failed\n")
    assert "| east-1 | changed | 7.3s | 1 pull, 1 up, 1 skip (dirty) |" in text
    (row,) = [line for line in text.splitlines() if "shop" in line]
    assert row.count("|") == 7
    for forbidden in ("<img", "[a]", "@octocat", "`", "s3cr3t"):
        assert forbidden not in row
