"""A witness on a host: notes each Compose command's begin and end, and changes nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.bed import Host

PLUGIN = "/usr/local/lib/docker/cli-plugins/docker-compose"
# Docker asks each plugin for its metadata; that is no Compose command.
SCRIPT = """\
#!/bin/sh
[ "$1" != docker-cli-plugin-metadata ] || exec {real} "$@"
trap : TERM INT HUP
echo "begin $$ $*" >>{log}
{real} "$@" &
child=$!
while :; do
    wait $child
    status=$?
    kill -0 $child 2>/dev/null || break
done
echo "end $$ $status" >>{log}
exit $status
"""


@dataclass(frozen=True)
class Witness:
    """What was seen on one host."""

    host: Host

    @property
    def lines(self) -> list[list[str]]:
        """``begin PID WORDS...`` and ``end PID STATUS``, in order."""
        log = self.host.folder / "compose.log"
        return [line.split(" ") for line in log.read_text().splitlines()]

    def commands(self) -> list[list[str]]:
        """The command lines that were begun."""
        return [words for kind, _, *words in self.lines if kind == "begin"]

    def overlaps(self) -> bool:
        """Whether two commands ever ran at the same time."""
        running: set[str] = set()
        for kind, pid, *_ in self.lines:
            if kind == "begin":
                if running:
                    return True
                running.add(pid)
            else:
                running.discard(pid)
        return False

    def unfinished(self) -> int:
        """How many commands have not ended."""
        kinds = [line[0] for line in self.lines]
        return kinds.count("begin") - kinds.count("end")


@contextmanager
def witness(host: Host) -> Iterator[Witness]:
    """Watch Compose on a host for a while."""
    log = host.folder / "compose.log"
    log.write_text("")
    real = host.sh(f"readlink -f {PLUGIN}").strip()
    script = SCRIPT.format(real=shlex.quote(real), log=shlex.quote(str(log)))
    write = f"rm {PLUGIN} && cat >{PLUGIN} && chmod 755 {PLUGIN}"
    host.run(["sh", "-c", write], text_input=script)
    try:
        yield Witness(host)
    finally:
        host.sh(f"rm {PLUGIN} && ln -s {shlex.quote(real)} {PLUGIN}")
