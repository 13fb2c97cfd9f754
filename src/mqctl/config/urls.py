"""What a URL may look like: of Redis, of a Git repository, of something asked over HTTP.

Every function takes a text and gives it back, or raises ValueError with what is wrong and what is
allowed. The text itself is never repeated: a URL is where passwords end up by accident.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

EMBEDDED = "embedded"
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP = re.compile(
    r"((?P<user>[^@/:\s]+)@)?(?P<host>[^@/:\s\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<path>[^\s]+)"
)
_GIT_ALLOWED = "https://, ssh://, USER@HOST:PATH and file:// are allowed"
_REDIS_ALLOWED = "redis://, rediss://, unix:// or embedded is allowed"
# The rest of what redis-py reads from a query (timeouts, retries, ssl_cert_reqs) would undo the
# rules under which a lock is safe.
_REDIS_QUERY = {"db", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}


def redis_url(text: str) -> str:
    """Check where the locks live."""
    if text == EMBEDDED:
        return text
    parts = _split(text)
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ValueError(f"not a Redis URL; {_REDIS_ALLOWED}")
    query = parse_qsl(parts.query, keep_blank_values=True)
    if parts.password is not None or any(key == "password" for key, _ in query):
        raise ValueError("a password in the URL; redis.password takes {env: NAME} or {file: PATH}")
    if {key for key, _ in query} - _REDIS_QUERY or parts.fragment:
        allowed = ", ".join(sorted(_REDIS_QUERY))
        raise ValueError(f"an unknown option in the URL; {allowed} are allowed")
    database = dict(query).get("db", "0")
    if parts.scheme == "unix":
        if not parts.path.startswith("/") or parts.path == "/":
            raise ValueError("no socket path in the URL; unix:///run/redis/redis.sock is allowed")
    else:
        _need_host(parts)
        database = parts.path.strip("/") or database
    if not re.fullmatch(r"[0-9]{1,4}", database):
        raise ValueError("the database is not a number; redis://HOST:PORT/0 is allowed")
    return text


def git_url(text: str) -> str:
    """Check a repository's address; what could run a program or hide an option is refused."""
    if text.startswith("-"):
        raise ValueError(f"begins with a dash; {_GIT_ALLOWED}")
    if _HELPER.match(text):
        raise ValueError(f"a remote helper (NAME::), which may run programs; {_GIT_ALLOWED}")
    _no_controls(text)
    if "://" not in text:
        return _scp(text)
    parts = _split(text)
    if parts.scheme not in {"https", "ssh", "file"}:
        raise ValueError(f"not a repository URL; {_GIT_ALLOWED}")
    if parts.password is not None:
        raise ValueError("a password in the URL; credentials takes it, by reference")
    if parts.scheme == "https" and parts.username is not None:
        raise ValueError("an account in the URL; credentials takes it, by reference")
    if parts.query or parts.fragment:
        raise ValueError("a query or fragment in the URL; a repository URL has none")
    if parts.scheme == "file":
        if parts.netloc or not parts.path.strip("/"):
            raise ValueError("not a path on the Marquee; file:///srv/git/shop.git is allowed")
        return text
    _need_host(parts)
    if (parts.username or "").startswith("-"):
        raise ValueError("the user begins with a dash; ssh://USER@HOST/PATH is allowed")
    if not parts.path.strip("/"):
        raise ValueError("no repository in the URL; HOST/PATH is allowed")
    return text


def is_ssh(git: str) -> bool:
    """Whether a repository's address, already checked, is reached over SSH."""
    return "://" not in git or git.startswith("ssh://")


def http_url(text: str) -> str:
    """Check the address of something that is asked or told over HTTP."""
    _no_controls(text)
    parts = _split(text)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("not an HTTP URL; http:// and https:// are allowed")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an account in the URL; a URL without one is allowed")
    _need_host(parts)
    return text


def _scp(text: str) -> str:
    match = _SCP.fullmatch(text)
    if match is None:
        raise ValueError(f"not a repository URL; {_GIT_ALLOWED}")
    user, host, path = match["user"] or "", match["host"], match["path"]
    if user.startswith("-") or path.startswith("-"):
        raise ValueError(f"a part begins with a dash; {_GIT_ALLOWED}")
    if not host.startswith("[") and not _HOST.fullmatch(host):
        raise ValueError("not a host name; USER@HOST:PATH is allowed")
    return text


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        port = parts.port
        hash((port, parts.hostname))
    except ValueError:
        raise ValueError("not a URL; SCHEME://HOST[:PORT]/PATH is allowed") from None
    if port == 0:
        raise ValueError("port 0 in the URL; 1 to 65535 are allowed")
    # urlsplit strips and drops some characters in silence; those would mean two different things.
    if any(char.isspace() or not char.isprintable() for char in text) or "\\" in text:
        raise ValueError("a space, a backslash or a control character in the URL; encode it")
    return parts


def _need_host(parts: SplitResult) -> None:
    host = parts.hostname or ""
    if not (_HOST.fullmatch(host) or re.fullmatch(r"[0-9a-f:.]*:[0-9a-f:.]*", host)):
        raise ValueError("no host name in the URL; SCHEME://HOST[:PORT]/PATH is allowed")


def _no_controls(text: str) -> None:
    if any(char.isspace() or not char.isprintable() for char in text):
        raise ValueError("a space or a control character in the URL; encode it")
