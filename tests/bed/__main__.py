"""Keep a bed open for development: `python -m tests.bed [HOST...]`, until Ctrl-C."""

import shlex
import signal
import sys

from tests.bed.bed import Bed


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Start everything, say how to reach it, wait."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # also where a shell's `&` ignores Ctrl-C
        signal.signal(ending, signal.default_int_handler)
    with Bed() as bed:
        bed.seed_images()
        hosts = bed.hosts(*(sys.argv[1:] or ["east-1", "west-1"]))
        for key, value in bed.env("client").items():
            if key != "PATH":
                say(f"export {key}={shlex.quote(value)}")
        for number, host in enumerate(hosts, 1):
            say(f"# {host.name}: docker{number}.example.com, {host.user}@{host.address}")
            say(f"#   ssh -F {bed.folder}/client/.ssh/config {host.name}   home {host.home}")
            say(f"#   docker -H {host.docker_host} ps")
        shop = bed.git.repo("acme/shop")
        shop.commit({"README.md": "shop\n"})
        say(f"# repositories: {bed.git.repos}, e.g. {shop.url}; key {bed.git.ssh_key}")
        say(f"# images: 127.0.0.1:{bed.registry.port}; redis: {bed.redis.url}")
        say("# Ctrl-C ends it all")
        try:
            signal.pause()
        except KeyboardInterrupt:
            say("# ending")


if __name__ == "__main__":
    main()
