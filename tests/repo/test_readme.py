"""What the README says is so."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mqctl.cli.complete import PHASES
from mqctl.errors import ExitCode, most_severe
from mqctl.host.guard import text as guard_text
from mqctl.lock import State
from mqctl.phases.reasons import Reason
from mqctl.store import ACL_COMMANDS
from tests.repo.generated import README, ROOT, commands, help_text, renewed

TEXT = README.read_text(encoding="utf-8")
HELP = re.compile(r"```text\nUsage: .*?```\n", re.DOTALL)
PROSE = HELP.sub("", TEXT)


def section(title: str) -> str:
    """The text under a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#|\Z)", PROSE, re.DOTALL | re.MULTILINE)
    assert found, f"the README has no section {title}"
    return found[1]


def rows(title: str) -> list[list[str]]:
    """The cells of the table in a section, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PROSE, re.DOTALL | re.MULTILINE)


def test_the_table_of_reasons_is_complete_and_each_has_a_next_step() -> None:
    table = rows("Reasons")
    assert [row[0] for row in table] == [f"`{one}`" for one in Reason]
    assert all(len(row) == 3 and all(row) for row in table)


def test_the_table_of_exit_statuses_is_complete() -> None:
    listed = [int(number) for row in rows("Exit status") for number in row[0].split(",")]
    assert sorted(listed) == sorted(ExitCode)


def test_the_order_of_severity_is_the_one_told() -> None:
    told = re.search(r"in this order:((?:\s*\d+,?)+)", section("Exit status"))
    assert told
    order = [ExitCode(int(number)) for number in re.findall(r"\d+", told[1])]
    assert set(order) == set(ExitCode) - {ExitCode.USAGE}
    for place, code_ in enumerate(order):
        assert all(most_severe([milder, code_]) is code_ for milder in order[place:])


def test_the_redis_user_gets_exactly_what_mqctl_needs() -> None:
    rule = next(line for line in code("text")[0].splitlines() if "SETUSER" in line)
    assert set(re.findall(r"\+(\w+)", rule)) == set(ACL_COMMANDS)
    assert "~mqctl:*" in rule.split()


def test_every_state_of_a_lock_is_explained() -> None:
    shown = section("Three in the morning, and a lock that stays").rpartition("States that")[2]
    assert set(re.findall(r"`([a-z-]+)`", shown)) >= set(State)


def test_the_phases_are_named_in_their_order() -> None:
    told = section("What a cycle decides").partition("six phases:")[2].partition(". ")[0]
    assert tuple(re.findall(r"`([a-z-]+)`", told)) == PHASES


def test_what_the_guard_needs_on_the_host_is_listed() -> None:
    needs = section("Your own host")
    asked = re.search(r"for program in ([a-z ]+); do", guard_text("raise"))
    assert asked
    for program in (*asked[1].split(), "timeout", "flock", "git"):
        assert f"`{program}`" in needs


def test_the_help_texts_are_up_to_date() -> None:
    assert renewed(TEXT) == TEXT, "run: make readme"


def test_the_help_of_every_command_is_shown() -> None:
    def below(command: str) -> list[str]:
        listed = help_text(command).partition("Commands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)
        return [one for name in names for one in below(f"{command} {name}".strip())] or [command]

    assert sorted(commands(TEXT)) == sorted(["", *below("")])


def shown_commands() -> list[str]:
    blocks = "\n".join([*code("sh"), *code("cron"), *code("ini")])
    inline = re.findall(r"`(mqctl [^`]+)`", PROSE)
    found = re.findall(r"\bmqctl ((?:[a-z-]+ )*.*?)(?: *#.*)?$", blocks, re.MULTILINE)
    lines = {f"mqctl {one}" for one in found if one.split()[0] in help_text("")} | set(inline)
    return sorted({" ".join(line.split()) for line in lines})


@pytest.mark.parametrize("line", shown_commands())
def test_every_command_that_is_shown_exists(line: str, tmp_path: Path) -> None:
    words = shlex.split(line)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "mqctl", *words, "--help"],
        cwd=tmp_path,
        env={"PATH": os.defpath, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_commands_are_shown_at_all() -> None:
    assert len(shown_commands()) > 12


def test_the_service_runs_a_command_of_mqctl_and_loads_the_secret_that_the_text_names() -> None:
    service, timer = configparser.ConfigParser(strict=False), configparser.ConfigParser()
    service.read_string(code("ini")[0])
    timer.read_string(code("ini")[1])
    secret, _, path = service["Service"]["LoadCredential"].partition(":")
    assert f"{{file: {secret}}}" in section("Regularly")
    assert Path(path).is_absolute()
    assert service["Service"]["Type"] == "oneshot"
    assert timer["Timer"]["OnCalendar"]


def test_cron_finds_the_program_where_the_text_puts_it() -> None:
    command = code("cron")[0].split()[5]
    link = next(line for line in "".join(code("sh")).splitlines() if line.startswith("ln -s"))
    assert Path(command).parent == Path(link.split()[-1])


def test_every_link_leads_somewhere() -> None:
    pages = [README, ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("https://") or (page.parent / target).exists(), (page, target)


def test_the_example_is_valid_where_nothing_else_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mqctl", "config", "check", "--output", "json"],
        cwd=tmp_path,
        env={"PATH": os.defpath, "HOME": str(tmp_path), "MQCTL_CONFIG": str(ROOT / EXAMPLE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["exit_code"] == 0


EXAMPLE = "marquees.example.yaml"
