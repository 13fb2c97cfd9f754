"""Single texts: what git, ssh and Docker take, and what they would misunderstand."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqctl.config import texts, urls

GOOD: dict[Callable[[str], object], list[str]] = {
    texts.name: ["a", "0", "east-1", "a" * 40, "no", "a-"],
    texts.host: ["docker1", "docker1.example.com", "my_alias", "10.0.0.1", "::1", "local", "a.b."],
    texts.user: ["deploy", "_svc", "DOM\\deploy", "deploy@realm", "machine$", "1000"],
    texts.registry_host: ["ghcr.io", "localhost:5000", "docker.io"],
    texts.image: [
        "nginx", "nginx:1.27-alpine", "acme/agent:1", "ghcr.io/acme/agent", "localhost:5000/a/b:c",
        "a@sha256:" + "0" * 64, "a:1@sha256:" + "f" * 64, "[::1]:5000/a", "a__b/c.d-e",
    ],
    texts.port_mapping: [
        "80", "8080:80", "127.0.0.1:8080:80", "127.0.0.1::80", "80/udp", "8000-8010:9000-9010/tcp",
    ],
    texts.root: ["/srv/mqctl", "~/.mqctl", "~/with space"],
    texts.container_path: ["/data", "/var/lib/agent data"],
    texts.inner_path: ["nginx.conf", "./a", "a//b/", "conf.d/site.conf", "a b", "..a", "a..b"],
    urls.redis_url: [
        "redis://localhost", "redis://localhost:6379/0", "rediss://user@r.example.com:6380/15",
        "redis://[::1]:6379", "unix:///run/redis.sock", "unix:///run/redis.sock?db=2", "embedded",
        "rediss://r.example.com?ssl_ca_certs=/etc/ssl/ca.pem",
    ],
    urls.git_url: [
        "https://git.example.com/a.git", "https://git.example.com:8443/a/b", "git.example.com:a",
        "ssh://git@git.example.com:2222/a.git", "ssh://git.example.com/~deploy/a.git",
        "git@git.example.com:acme/a.git", "git@[::1]:a.git", "file:///srv/git/a.git",
    ],
    urls.http_url: ["http://a/b", "https://a.example.com:8443/health?x=1", "http://[::1]:80/"],
}  # fmt: skip

BAD: dict[Callable[[str], object], list[str]] = {
    texts.name: ["", "-a", "A", "a_b", "a.b", "a" * 41, "a\n", "é", "a b"],
    texts.host: ["", "-x", "a b", "a;b", "a/b", "a@b", "a:22", "a\n", "$(x)", "%h", "é.example"],
    texts.user: ["", "-l", "a b", "a;b", "a\n", "$x", "a:b"],
    texts.registry_host: ["", "https://ghcr.io", "ghcr.io/acme", "GHCR.io", "-x", "a b"],
    texts.image: ["", "-x", "--privileged", "A/b", "a b", "a:", "a:-x", "a//b", "a@sha256:0"],
    texts.port_mapping: ["", "-x", "0", "65536", "80:", ":80", "http", "80/icmp", "1:2:3:4", "8 0"],
    texts.root: ["", "/", "~", "~/", "a", "./a", "/a/../b", "~deploy/a", "/a\nb", "-x"],
    texts.container_path: ["", "/", "data", "/data:/etc", "/a/../b", "/a,readonly", "/a\nb"],
    texts.inner_path: ["", ".", "..", "/a", "../a", "a/../../b", "~/a", "-x", "a\nb", "a\0b"],
    urls.redis_url: [
        "", "localhost", "http://localhost", "redis://", "redis://:pw@localhost", "redis://a/x",
        "redis://u:@localhost", "redis://a?password=x", "redis://a?socket_timeout=9", "unix://",
        "redis://a?ssl_cert_reqs=none", "redis://a:0", "redis://a:x", "redis://a b", "redis://[a",
    ],
    urls.git_url: [
        "", "-x", "ext::sh -c x", "fd::7", "a::b", "http://a/b", "git://a/b", "ftp://a/b", "/srv/a",
        "./a", "a", "https://u@a/b", "https://u:p@a/b", "ssh://u:p@a/b", "ssh://-x/b", "ssh://-u@a/b",
        "git@-x:b", "-u@a:b", "a:-b", "https://a", "https:///b", "https://a/b?x", "https://a/b#x",
        "https://a/b c", "https://a/b\tc", "file://host/a", "file:///", "ssh://a/b\n", "a:b\x7f",
        "https://a\\b/c", "https://[::1/a",
    ],
    urls.http_url: ["", "a", "ftp://a", "http://", "http://u:p@a", "http://a b", "http:///x"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("check", "text"), [(check, text) for check, all_ in GOOD.items() for text in all_]
)
def test_allowed(check: Callable[[str], object], text: str) -> None:
    assert check(text)


@pytest.mark.parametrize(
    ("check", "text"), [(check, text) for check, all_ in BAD.items() for text in all_]
)
def test_refused_with_what_is_allowed_and_without_the_text(
    check: Callable[[str], object], text: str
) -> None:
    with pytest.raises(ValueError, match=";") as caught:
        check(text)
    assert len(text) < 9 or text not in str(caught.value)


_BRANCHES = [
    "main", "feature/login", "v1.10", "a@b", "@a", "1", "é", "a-", "release/2031.01", "-x", "", "@",
    "HEAD", "a..b", "a@{1}", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a//b", "/a", "a/", "a b",
    "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a\tb", "a\x7f", "refs/heads/a", "a.b.", "a/-b",
]  # fmt: skip


def _git_takes(branch: str) -> bool:
    if branch == "@":  # git takes it here, as another spelling of HEAD
        return False
    command = ["git", "check-ref-format", "--branch", branch]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _we_take(branch: str) -> bool:
    try:
        return texts.branch(branch) == branch
    except ValueError:
        return False


@pytest.mark.parametrize("branch", _BRANCHES)
def test_a_branch_is_what_git_takes(branch: str) -> None:
    assert _we_take(branch) == _git_takes(branch)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab.@{}/-~^:?*[\\ lock", max_size=8))
def test_any_branch_is_what_git_takes(branch: str) -> None:
    assert _we_take(branch) == _git_takes(branch)


@given(st.sampled_from(sorted(BAD, key=repr)), st.text(max_size=60))
def test_no_text_makes_a_check_fail_in_another_way(
    check: Callable[[str], object], text: str
) -> None:
    try:
        check(text)
    except ValueError as error:
        said = str(error)
    else:
        said = ";"
    assert ";" in said
