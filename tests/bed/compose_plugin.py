"""Compose 2.26 as a plugin of the Docker client, from a newer Debian suite than the machine's.

The package runs on older releases as it is, so it is only unpacked, never installed, and it is
fetched with a private apt configuration: the machine's own sources and lists stay as they are.
"""

import os
import shutil
import subprocess
from pathlib import Path

SUITE = "trixie"
PACKAGE = "docker-compose"
PLUGIN = "docker-compose"
KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)
SYSTEM_FOLDERS = (
    Path("/usr/local/lib/docker/cli-plugins"),
    Path("/usr/local/libexec/docker/cli-plugins"),
    Path("/usr/lib/docker/cli-plugins"),
    Path("/usr/libexec/docker/cli-plugins"),
)
TESTED = "2.26."


def find_plugin(cache: Path) -> Path | None:
    """Find the plugin: what was fetched before, else one of the system's in the tested version."""
    fetched = cache / PLUGIN
    if fetched.exists():
        return fetched
    for folder in SYSTEM_FOLDERS:
        candidate = folder / PLUGIN
        if candidate.exists() and _version(candidate).startswith(TESTED):
            return candidate
    return None


def fetch_plugin(cache: Path) -> Path:
    """Download and unpack the plugin into the cache folder."""
    mirror = _mirror()
    keyring = next((path for path in KEYRINGS if path.exists()), None)
    if keyring is None:
        message = "no Debian archive keyring on this machine"
        raise RuntimeError(message)
    work = cache / "apt"
    shutil.rmtree(work, ignore_errors=True)
    (work / "lists" / "partial").mkdir(parents=True)
    (work / "cache" / "archives" / "partial").mkdir(parents=True)
    sources = work / "sources.list"
    sources.write_text(f"deb [signed-by={keyring}] {mirror} {SUITE} main\n")
    options = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",  # the cache folder is not readable for apt's own user
    }
    apt = ["apt-get", "-q"]
    for key, value in options.items():
        apt += ["-o", f"{key}={value}"]
    _run([*apt, "update"], work)
    _run([*apt, "download", f"{PACKAGE}/{SUITE}"], work)
    package = next(work.glob("*.deb"))
    _run(["dpkg-deb", "-x", str(package), str(work / "unpacked")], work)
    plugin = next((work / "unpacked").rglob(f"cli-plugins/{PLUGIN}"))
    if not (version := _version(plugin)).startswith(TESTED):
        message = f"{PACKAGE} in {SUITE} has version {version or 'unknown'}, not {TESTED}x"
        raise RuntimeError(message)
    plugin.replace(cache / PLUGIN)  # at once: a killed download leaves no half plugin
    shutil.rmtree(work)
    return cache / PLUGIN


def _mirror() -> str:
    """Give the Debian mirror that this machine is set up with."""
    form = "$(LABEL) $(COMPONENT) $(REPO_URI)"
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in listed.splitlines():
        label, component, uri = [*line.split(" "), "", ""][:3]
        if label == "Debian" and component == "main":
            return uri
    message = "no Debian mirror in this machine's apt sources (apt-get update?)"
    raise RuntimeError(message)


def _run(argv: list[str], folder: Path) -> None:
    done = subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing said"]
        raise RuntimeError(f"{' '.join(argv[:1] + argv[-2:])}: {said[-1]}")


def _version(plugin: Path) -> str:
    done = subprocess.run(
        [str(plugin), "version", "--short"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip().removeprefix("v")
