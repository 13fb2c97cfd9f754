"""What the bed needs on the machine: check for it, and as root on Debian or Ubuntu install it.

A part that cannot be had is one error with a sentence for each missing part. Nothing is skipped
in silence, and nothing is started: the bed runs its own processes on ports of its own.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bed.compose_plugin import PLUGIN, fetch_plugin, find_plugin

SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
POLICY = Path("/usr/sbin/policy-rc.d")
ASK = "MQCTL_BED_INSTALL"


class MissingPartsError(RuntimeError):
    """The machine lacks parts that the bed needs, and they could not be installed."""


@dataclass(frozen=True)
class Part:
    """One program and the Debian package that has it."""

    program: str
    package: str
    purpose: str


PARTS = (
    Part("redis-server", "redis-server", "the lock store"),
    Part("redis-cli", "redis-tools", "looking into the lock store"),
    Part("dockerd", "docker.io", "a Docker daemon for each host"),
    Part("docker", "docker.io", "the hosts' Docker client"),
    Part("iptables", "iptables", "name resolution between containers"),
    Part("docker-registry", "docker-registry", "the images"),
    Part("busybox", "busybox-static", "the content of the images"),
    Part("sshd", "openssh-server", "the way into the hosts"),
    Part("ssh-keygen", "openssh-client", "keys"),
    Part("git", "git", "the repositories"),
    Part("openssl", "openssl", "the repositories over HTTPS"),
    Part("sudo", "sudo", "hosts where the user is not root"),
    Part("ip", "iproute2", "private networks"),
    Part("unshare", "util-linux", "private namespaces"),
    Part("flock", "util-linux", "the guard on the hosts"),
    Part("timeout", "coreutils", "the guard on the hosts"),
)


def cache_folder() -> Path:
    """Give the folder for what was downloaded."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "mqctl-testbed"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def program(name: str) -> str:
    """Give a program's path as the distribution has it, whatever is first on our own PATH."""
    found = shutil.which(name, path=SEARCH_PATH)
    if found is None:
        raise MissingPartsError(f"{name} is missing")
    return found


def ensure() -> Path:
    """Make sure that everything is there; give the path of the Compose plugin."""
    if os.geteuid() != 0:
        message = "the test bed makes private namespaces and needs to run as root"
        raise MissingPartsError(message)
    plugin = find_plugin(cache_folder())
    if not _missing() and plugin:
        return plugin
    with _alone():
        trouble = []
        if missing := _missing():
            _install(sorted({part.package for part in missing}))
            trouble = [
                f"{part.program} is missing ({part.purpose}): apt-get install {part.package}"
                for part in _missing()
            ]
        plugin = find_plugin(cache_folder())
        if plugin is None and not trouble:
            try:
                plugin = fetch_plugin(cache_folder())
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                trouble.append(
                    f"the Compose plugin is missing ({error}): put {PLUGIN} 2.26 into "
                    f"{cache_folder()} or install a package that has it"
                )
    if trouble or plugin is None:
        message = "the test bed cannot be built here:\n  " + "\n  ".join(trouble)
        raise MissingPartsError(message)
    return plugin


def _missing() -> list[Part]:
    return [part for part in PARTS if shutil.which(part.program, path=SEARCH_PATH) is None]


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time install."""
    with (cache_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(packages: list[str]) -> None:
    if shutil.which("apt-get") is None:
        return
    if Path("/run/systemd/system").is_dir() and not os.environ.get(ASK):
        # Someone's own machine: packages with services would also start at its next boot.
        message = (
            "the test bed needs packages: apt-get install --no-install-recommends "
            + " ".join(packages)
            + f" (or set {ASK}=1 and it does that itself)"
        )
        raise MissingPartsError(message)
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    with _no_service_starts():
        if _apt(install):
            _apt(["apt-get", "update", "-q"])
            _apt(install)


def _apt(argv: list[str]) -> int:
    """Run apt and leave its words in a log; whether it helped is seen by looking again."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with (cache_folder() / "apt.log").open("ab") as log:
        return subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
        ).returncode


@contextmanager
def _no_service_starts() -> Iterator[None]:
    """Keep packages from starting their services, and leave no trace of how."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)
