"""Golden texts: what a person sees, kept as files beside the tests.

``MQCTL_GOLDEN=write pytest tests/report tests/cli`` writes them anew; then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path


def assert_golden(beside: str, name: str, text: str) -> None:
    """Compare ``text`` with ``golden/NAME`` in the folder of the test file ``beside``."""
    path = Path(beside).parent / "golden" / name
    if os.environ.get("MQCTL_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
