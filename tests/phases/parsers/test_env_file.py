"""An env file gives Compose exactly the values that were declared, whatever they are made of."""

from __future__ import annotations

import base64
import itertools
import json

from mqctl.host.compose import env_file
from tests.bed import Bed

PIECES = [
    "$",
    "$$",
    "${HOME}",
    '"',
    "'",
    "\\",
    "\n",
    "#",
    " ",
    "a",
    "`id`",
    "é漢😀",
    "\t",
    "\r",
    "=",
]
NASTY = [
    "",
    " leading and trailing ",
    "# no comment",
    "a # no comment either",
    "${UNSET:-default}",
    "$(id) `id` $((1+1))",
    "\\n is no newline, \\t no tab, \\$ no dollar, \\u00e9 no é",
    "two\nlines\r\nand three\n",
    "ends with a backslash\\",
    "\"double\" 'single' \"'mixed'\"",
    "export A=1\nB=2",
    "{{.Secret}} %s %% & | ; < > * ? ~ ! [a] (b)",
    "\x01\x1b[31m\x7f",
    "\u2028\u2029\x85\ufeff",
    "x" * 30_000,
    *("".join(pair) for pair in itertools.product(PIECES, repeat=2)),
]


def test_nasty_values_reach_the_container_exactly(shared_bed: Bed) -> None:
    host = shared_bed.host("east-1")
    env = {f"V{number}": value for number, value in enumerate(NASTY)}
    service = {"image": "nginx:alpine", "environment": {name: f"${{{name}}}" for name in env}}
    files = {
        "compose.yaml": json.dumps({"services": {"web": service}}),
        "env": env_file(env),
    }
    host.sh("rm -rf ~/nasty && mkdir ~/nasty")
    for name, text in files.items():
        encoded = base64.b64encode(text.encode()).decode()
        for start in range(0, len(encoded), 60_000):
            part = encoded[start : start + 60_000]
            host.sh(f"printf %s {part} >>~/nasty/{name}.b64")
        host.sh(f"base64 -d ~/nasty/{name}.b64 >~/nasty/{name}")
    compose = "cd ~/nasty && docker compose -p nasty --env-file env"
    host.sh(f"{compose} create --quiet-pull </dev/null")
    try:
        name = host.sh(f"{compose} ps -aq </dev/null").strip()
        (inspected,) = json.loads(host.docker("inspect", name))
        told = dict(line.split("=", 1) for line in inspected["Config"]["Env"])
        assert {key: told.get(key) for key in env} == env
    finally:
        host.sh(f"{compose} down </dev/null")
