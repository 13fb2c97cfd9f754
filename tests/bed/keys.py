"""SSH keys and the lines of known_hosts."""

import subprocess
from pathlib import Path

from tests.bed.packages import program


def make_key(path: Path, comment: str = "bed") -> Path:
    """Make an Ed25519 key pair without a passphrase, in place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in (path, public(path)):
        old.unlink(missing_ok=True)
    argv = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return path


def public(path: Path) -> Path:
    """Give the public half of a key."""
    return path.with_name(path.name + ".pub")


def known_hosts_lines(host_key: Path, *names: str) -> str:
    """Give the known_hosts lines for a host key under several names."""
    kind, key = public(host_key).read_text().split()[:2]
    return "".join(f"{name} {kind} {key}\n" for name in names)


def make_certificate(path: Path, name: str) -> Path:
    """Make a certificate that signs itself, and `PATH.key`; give the certificate."""
    argv = [program("openssl"), "req", "-x509", "-newkey", "ec", "-nodes", "-days", "30"]
    argv += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"]
    argv += ["-addext", f"subjectAltName=DNS:{name}"]
    argv += ["-keyout", f"{path}.key", "-out", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return path
