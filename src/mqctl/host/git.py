"""Git as text: what the shell functions of ``scripts/lib_git.sh`` print, parsed. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mqctl.host.completed import Completed
from mqctl.host.facts import GitState
from mqctl.model import Checkout, Prop
from mqctl.secret import Secret


def parse_states(text: str) -> dict[str, GitState]:
    """Parse blocks of ``checkout DIR`` and a word and its value a line: DIR -> state."""
    blocks: dict[str, dict[str, str]] = {}
    block: dict[str, str] = {}
    for line in text.split("\n"):
        word, _, value = line.partition(" ")
        if word == "checkout":
            block = blocks.setdefault(value, {})
        elif word:
            block.setdefault(word, value)
    return {directory: _state(words) for directory, words in blocks.items()}


def _state(words: dict[str, str]) -> GitState:
    def number(word: str) -> int:
        return int(words.get(word, "0"))

    try:
        ahead, behind = (int(n) for n in words.get("apart", "0 0").split())
        missing = {"changes", "local", "branch", "hidden"} - words.keys()
        error = words.get("error", "")
        return GitState(
            head=words.get("head", ""),
            branch="" if words.get("branch") == "(detached)" else words.get("branch", ""),
            origin=words.get("origin", ""),
            changes=number("changes"),
            local_commits=number("local"),
            operation=words.get("operation", ""),
            hidden=number("hidden"),
            tip=words.get("tip", ""),
            ahead=ahead,
            behind=behind,
            # An answer that was cut is unreadable, and unreadable is dirty.
            error=error or (f"no answer about {min(missing)}" if missing else ""),
        )
    except ValueError:
        return GitState(error="git gave an answer that could not be read")


@dataclass(frozen=True, slots=True)
class Tips:
    """The branches of one repository as its remote has them now, or why it did not tell."""

    branches: dict[str, str] = field(default_factory=dict)
    error: str = ""


def parse_tips(text: str) -> dict[str, Tips]:
    """Parse the answer of ``git_tips.sh``: key -> tips."""
    found: dict[str, Tips] = {}
    current = ""
    for line in text.split("\n"):
        match line.split(maxsplit=2):
            case ["repository", key, status]:
                current = key
                failed = status.strip() != "ok"
                found[key] = Tips(error="the remote gave no reason" if failed else "")
            case ["error", *words] if current:
                found[current] = Tips(error=" ".join(words))
            case [sha, ref] if current and ref.startswith("refs/heads/"):
                found[current].branches[ref.removeprefix("refs/heads/")] = sha
    return found


_CAUSES = re.compile(
    r"host key|permission denied|could not resolve|connection (refused|timed out|reset)"
    r"|authentication failed|not found|^fatal:|^error:",
    re.IGNORECASE,
)


def complaint(done: Completed) -> str:
    """The line of git's or ssh's complaint that tells the cause: the advice after it does not."""
    lines = [line.strip() for line in done.error_text.splitlines()]
    return next((line for line in lines if _CAUSES.search(line)), done.last_words)


def credentials(key: str, prop: Prop) -> dict[str, str | Secret]:
    """The files that ``use_credentials KEY`` looks for. Reads the secrets.

    Raises:
        ConfigError: a secret or the known hosts file cannot be read.
    """
    found: dict[str, str | Secret] = {}
    if prop.ssh_key is not None:
        found[f"{key}.key"] = prop.ssh_key.read()
    if prop.token is not None:
        found[f"{key}.token"] = prop.token.read()
        found[f"{key}.username"] = prop.username or "git"
    if prop.known_hosts_file is not None:
        found[f"{key}.known_hosts"] = prop.known_hosts()
    return found


def directory(project: str, checkout: Checkout | str) -> str:
    """Where a checkout is, relative to the Marquee's directory."""
    name = checkout if isinstance(checkout, str) else checkout.name
    return f"projects/{project}/{name}"
