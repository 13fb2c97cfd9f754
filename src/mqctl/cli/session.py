"""What one invocation carries from command to command: streams, clock, cancellation, options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mqctl.cancel import CancelToken
from mqctl.cli.signals import Signals
from mqctl.clock import Clock
from mqctl.model import ErrorReport
from mqctl.report.streams import Streams


@dataclass(frozen=True, slots=True)
class Common:
    """The options that every command takes."""

    config: Path | None = None
    output: str = "text"
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"


@dataclass(slots=True)
class Session:
    """One invocation. ``command`` and ``common`` are known once the command line was parsed."""

    streams: Streams
    cancel: CancelToken
    signals: Signals
    clock: Clock = field(default_factory=Clock)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    command: str = ""
    common: Common = field(default_factory=Common)
    empty: Mapping[str, Any] = field(default_factory=dict)  # the document's body when all failed
    answered: bool = False  # a JSON document was printed

    def begin(self, command: str, common: Common, **empty: object) -> None:
        """Say which command runs, so that an error can be told in its form."""
        self.command = command
        self.common = common
        self.empty = empty

    @property
    def json(self) -> bool:
        """Whether the answer is JSON (a document, or objects line by line)."""
        return self.common.output != "text"

    def answer(self, text: str = "") -> None:
        """Print one line of the answer."""
        self.streams.out.line(text)

    def note(self, text: str) -> None:
        """Print one line beside the answer."""
        if not self.common.quiet:
            self.streams.err.line(text)

    def answer_json(
        self, exit_code: int, body: Mapping[str, Any], error: ErrorReport | None = None
    ) -> None:
        """Print the document of a command other than ``reconcile`` and ``sweep``."""
        from mqctl.report.json_document import document, dump  # noqa: PLC0415 - only when asked for

        whole = document(self.command, exit_code, body, error)
        indent = 2 if self.common.output == "json" else None
        self.streams.out.write_masked(dump(whole, indent=indent) + "\n")
        self.answered = True

    def answer_jsonl(self, value: object) -> None:
        """Print one object of ``-o jsonl``."""
        from mqctl.report.json_document import dump, to_json  # noqa: PLC0415 - only when asked for

        self.streams.out.write_masked(dump(to_json(value)) + "\n")
        self.answered = True

    def with_output(self, output: str) -> None:
        """Change the form of the answer (of an error that came before parsing was over)."""
        self.common = replace(self.common, output=output)
