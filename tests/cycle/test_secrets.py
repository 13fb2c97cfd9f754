"""A secret reaches the container it is for, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.bed import Bed, Host
from tests.support.looks import tree
from tests.support.operators import Operator

CANARY = "canary-5f1c9e"
COMPOSE = {
    "services": {"web": {"image": "nginx:alpine", "environment": {"TOKEN": "${TOKEN}"}}},
}
# Says its secret and fails, so that the log's end is told as the reason.
LEAKY = {
    "services": {
        "web": {
            "image": "nginx:alpine",
            "environment": {"TOKEN": "${TOKEN}"},
            "entrypoint": ["/bin/sh", "-c", "echo the token is $$TOKEN >&2; exit 3"],
        }
    },
}


class Watch(threading.Thread):
    """Reads the arguments of all processes, here and on the hosts, again and again."""

    def __init__(self, *secrets: str) -> None:
        super().__init__(daemon=True)
        self.secrets = secrets
        self.seen: set[str] = set()
        self.looks = 0
        self.over = threading.Event()

    def run(self) -> None:
        """Look until it is over."""
        while not self.over.wait(0.01):
            self.looks += 1
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = entry.read_bytes().decode(errors="replace")
                except OSError:
                    continue
                beds_own = "git_https.py" in words  # the server that asks for the token
                if not beds_own and any(secret in words for secret in self.secrets):
                    self.seen.add(words.replace("\0", " ")[:500])


def everything_in_redis(bed: Bed) -> str:
    """All keys with all values."""
    ask = {"string": ["GET"], "hash": ["HGETALL"], "stream": ["XRANGE", "-", "+"]}
    text = ""
    for key in bed.redis.cli("KEYS", "*").splitlines():
        command, *rest = ask[bed.redis.cli("TYPE", key)]
        text += f"{key}\n{bed.redis.cli(command, key, *rest)}\n"
    return text


def test_a_secret_reaches_its_container_and_appears_nowhere_else(
    operator: Operator, east: Host
) -> None:
    repo = operator.bed.git.repo("acme/secret")
    repo.commit({"README": "one\n"})
    token = operator.bed.git.token
    operator.declared["props"]["shop"] = {
        "repository_url": repo.https_url,
        "credentials": {"username": operator.bed.git.user, "token": {"env": "GIT_TOKEN"}},
    }
    secret = {"TOKEN": {"env": "CANARY"}}
    operator.playspec("good", COMPOSE, env=secret, checkouts={"app": {"prop": "shop"}})
    operator.playspec("leaky", LEAKY, env=secret)
    for name in ("good", "leaky"):
        operator.playground(name, name)
    environ = {"CANARY": CANARY, "GIT_TOKEN": token}

    watch = Watch(CANARY, token)
    watch.start()
    runs = [
        operator.run("reconcile", "east-1", "--now", *form, environ=environ)
        for form in (("-o", "json"), ("-o", "jsonl"), ("-v", "-o", "text", "--dry-run"))
    ]
    runs.append(operator.run("history", "east-1", environ=environ))
    runs.append(operator.run("config", "show", environ=environ))
    watch.over.set()
    watch.join()

    assert runs[0].fate("playground/good") == ("up", "missing", "done"), runs[0]
    assert runs[0].fate("playground/leaky") == ("up", "missing", "failed"), runs[0]
    assert "the token is ***" in runs[0].decision("playground/leaky")["detail"]
    environment = east.docker("exec", f"{operator.project('good')}-web-1", "env")
    assert f"TOKEN={CANARY}" in environment

    below_the_root = b"\n".join(tree(operator.place()).values()).decode(errors="replace")
    said = "\n".join(ran.text + ran.errors for ran in runs)
    told = everything_in_redis(operator.bed)
    assert operator.fleet in told
    for one in (CANARY, token):
        assert one not in said
        assert one not in below_the_root
        assert one not in told
    assert watch.looks > 10
    assert watch.seen == set()
