"""Makes a host of the bed as good as new, without starting it again."""

from __future__ import annotations

from tests.bed import Host

_SCRIPT = """\
ids=$(docker ps -aq)
[ -z "$ids" ] || docker rm -f -v $ids
nets=$(docker network ls -q --filter type=custom)
[ -z "$nets" ] || docker network rm $nets
volumes=$(docker volume ls -q)
[ -z "$volumes" ] || docker volume rm -f $volumes
rm -rf ~/.mqctl
"""


def tidy(host: Host) -> None:
    """Remove all containers, networks, volumes and what mqctl keeps; the images stay."""
    if not (host.home / ".mqctl").exists():  # nobody has used it
        return
    host.sh(f"{{ {_SCRIPT} }} >/dev/null </dev/null")
    host.reset_counts()
