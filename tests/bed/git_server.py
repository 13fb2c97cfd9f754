"""A Git server over SSH: `git@git.example.com:acme/shop.git` from the hosts of the bed."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bed import keys
from tests.bed.box import Box, User
from tests.bed.net import free_port
from tests.bed.packages import program
from tests.bed.supervisor import BedError, Supervisor

HOST = "git.example.com"
HTTPS_PORT = 8443
FIRST_DATE = 1_700_000_000

# Paths are relative to the repositories' folder in both URL forms; each request is noted.
SERVE = """\
#!/bin/sh
set -- $SSH_ORIGINAL_COMMAND
service=$1
path=$(printf %s "$2" | tr -d "'" | sed 's#^/*##')
echo "$service $path" >> {log}
case $service in
git-upload-pack | git-receive-pack | git-upload-archive) exec "$service" "{repos}/$path" ;;
*) echo "only git here" >&2; exit 128 ;;
esac
"""


@dataclass(frozen=True)
class GitRepo:
    """One bare repository; tests change it from its own side, without a working tree."""

    name: str
    path: Path

    @property
    def url(self) -> str:
        """Give the address in the scp form."""
        return f"git@{HOST}:{self.name}.git"

    @property
    def ssh_url(self) -> str:
        """Give the address as a URL."""
        return f"ssh://git@{HOST}/{self.name}.git"

    @property
    def https_url(self) -> str:
        """Give the address over HTTPS; it takes the server's `user` and `token`."""
        return f"https://{HOST}:{HTTPS_PORT}/{self.name}.git"

    def git(self, *args: str, text_input: bytes | None = None) -> str:
        """Run git in the repository."""
        done = subprocess.run(
            [program("git"), "-C", str(self.path), *args],
            env={"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.path), "PATH": "/usr/bin:/bin"},
            input=text_input or b"",
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise BedError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode(errors="replace").strip()

    def commit(
        self,
        files: Mapping[str, str | bytes],
        branch: str = "main",
        *,
        message: str = "change",
        delete: Sequence[str] = (),
    ) -> str:
        """Add a commit that writes (and deletes) files on top of a branch; give its id."""
        return self._import(files, branch, message, delete, self.tip(branch))

    def force_push(
        self,
        files: Mapping[str, str | bytes],
        branch: str = "main",
        *,
        message: str = "rewritten",
        onto: str | None = None,
    ) -> str:
        """Replace a branch's history: a new commit on `onto`, or one without any parent."""
        return self._import(files, branch, message, (), onto)

    def branch(self, name: str, from_: str = "main") -> str:
        """Make (or move) a branch; give the commit that it points at."""
        self.git("update-ref", f"refs/heads/{name}", self.git("rev-parse", f"{from_}^0"))
        return self.git("rev-parse", name)

    def delete_branch(self, name: str) -> None:
        """Delete a branch."""
        self.git("update-ref", "-d", f"refs/heads/{name}")

    def tip(self, branch: str = "main") -> str | None:
        """Give the commit of a branch, None if there is no such branch."""
        listed = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return listed or None

    def _import(
        self,
        files: Mapping[str, str | bytes],
        branch: str,
        message: str,
        delete: Sequence[str],
        parent: str | None,
    ) -> str:
        ref = f"refs/heads/{branch}"
        # A clock that ticks once a commit: the same steps give the same ids, new ones new ids.
        when = FIRST_DATE + int(self.git("count-objects").split()[0])
        stream = f"reset {ref}\n" if parent is None else ""
        stream += f"commit {ref}\ncommitter Bed <bed@example.com> {when} +0000\n"
        lines = stream.encode() + _data(message.encode())
        if parent is not None:
            lines += f"from {parent}\n".encode()
        for name in delete:
            lines += f"D {name}\n".encode()
        for name, content in files.items():
            raw = content.encode() if isinstance(content, str) else content
            mode = "100755" if raw.startswith(b"#!") else "100644"
            lines += f"M {mode} inline {name}\n".encode() + _data(raw)
        self.git("fast-import", "--quiet", "--force", text_input=lines)
        tip = self.tip(branch)
        assert tip is not None
        return tip


def _data(raw: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(raw), raw)


class GitServer(Box):
    """Bare repositories behind an SSH server of their own, on this machine's loopback."""

    own_network = False
    user, token = "acme-bot", "s3cret-t0ken"

    def __init__(self, folder: Path, keeper: Supervisor) -> None:
        """Describe the server. `ssh_key` is the key of a client that may read and write."""
        self.repos = folder / "repos"
        self.requests_log = folder / "requests.log"
        user = User("git", self.repos, shell="/bin/sh")  # noqa: S604 -- a field of that name
        super().__init__(folder, "git", [user], keeper)
        self.ssh_port = free_port()
        self.https_port = free_port()
        self.certificate = keys.make_certificate(folder / "https.pem", HOST)
        self.ssh_key = keys.make_key(folder / "client_key")
        self._requests_mark = 0
        self._repos: dict[str, GitRepo] = {}
        self.authorize(self.ssh_key)
        self.requests_log.touch()
        serve = folder / "serve"
        serve.write_text(SERVE.format(log=shlex.quote(str(self.requests_log)), repos=self.repos))
        serve.chmod(0o755)
        self.sshd_options = f"ForceCommand {serve}\n"

    def wait_ready(self) -> None:
        """Wait until SSH answers, and serve HTTPS too."""
        super().wait_ready()
        program_file = Path(__file__).with_name("git_https.py")
        argv = [sys.executable, "-I", "-S", str(program_file), str(self.https_port)]
        argv += [str(self.certificate), f"{self.certificate}.key", str(self.repos)]
        argv += [str(self.requests_log), self.user, self.token]
        https = self.agent.spawn(argv, log=self.folder / "https.log")
        https.wait_for("ready", "git over HTTPS")

    @property
    def known_hosts(self) -> str:
        """Give the server's known_hosts line."""
        return keys.known_hosts_lines(self.host_key, HOST)

    def repo(self, name: str) -> GitRepo:
        """Give the repository of that name (`acme/shop`); the first time it is made, empty."""
        if name not in self._repos:
            repo = GitRepo(name, self.repos / f"{name}.git")
            repo.path.mkdir(parents=True)
            repo.git("init", "--quiet", "--bare", "--initial-branch=main")
            repo.git("config", "fastimport.unpackLimit", "1000000")
            self._repos[name] = repo
        return self._repos[name]

    def requests(self) -> list[str]:
        """List the requests since the last `reset_counts()`: `git-upload-pack acme/shop.git`."""
        with self.requests_log.open("rb") as log:
            log.seek(self._requests_mark)
            return log.read().decode().splitlines()

    def fetches(self) -> int:
        """Count the fetches, clones and ls-remotes (git's protocol does not tell them apart)."""
        return len([each for each in self.requests() if re.match(r"git-upload-pack ", each)])

    def reset_counts(self) -> None:
        """Count from here on."""
        super().reset_counts()
        self._requests_mark = self.requests_log.stat().st_size
