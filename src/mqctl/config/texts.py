"""What the texts of the declared file may look like: names, branches, hosts, images, paths.

Every function takes a text and gives it back (some in a normal form), or raises ValueError with
what is wrong and what is allowed. Most of what is refused here would otherwise be taken for an
option, a second argument or another path by git, ssh, Docker or a shell.
"""

from __future__ import annotations

import ipaddress
import re
from datetime import UTC, datetime
from pathlib import PurePosixPath

NAME_PATTERN = "^[a-z0-9][a-z0-9-]{0,39}$"
VARIABLE_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$"
MEMORY_PATTERN = "^[0-9]+[bkmgBKMG]?$"
RESTART_PATTERN = "^(no|always|unless-stopped|on-failure(:[0-9]{1,9})?)$"
REPOSITORY_PATTERN = "^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$"
WORKFLOW_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9._-]*$"
MOMENT_PATTERN = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)

# git check-ref-format(1), without the rules that are about whole components.
_BRANCH_BAD = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@\\+-]*\$?")
_REGISTRY = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
# The grammar of github.com/distribution/reference.
_PATH_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_DOMAIN = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_IMAGE = re.compile(
    rf"(?:{_DOMAIN}/)?{_PATH_PART}(?:/{_PATH_PART})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,})?"
)
_ADDRESS = r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-fA-F:]+\]):"
_RANGE = r"[0-9]{1,5}(?:-[0-9]{1,5})?"
_PORT = re.compile(rf"(?:{_ADDRESS}(?:{_RANGE})?:|{_RANGE}:)?{_RANGE}(?:/(?:tcp|udp|sctp))?")
_LONGEST_BRANCH = 200
_LONGEST_IMAGE = 255
_LONGEST_PATH = 1024
_LAST_PORT = 65535


def name(text: str) -> str:
    """Check a name: it becomes part of Compose projects, labels and directories."""
    if not re.fullmatch(NAME_PATTERN, text):
        raise ValueError("not a name; 1 to 40 of a-z, 0-9 and -, not - first, are allowed")
    return text


def variable(text: str) -> str:
    """Check the name of an environment variable."""
    if not re.fullmatch(VARIABLE_PATTERN, text):
        raise ValueError(
            "not a variable's name; letters, digits and _, no digit first, are allowed"
        )
    return text


def branch(text: str) -> str:
    """Check a branch name by the rules of ``git check-ref-format --branch``."""
    parts = text.split("/")
    wrong = (
        not text
        or text in {"@", "HEAD"}
        or len(text) > _LONGEST_BRANCH
        or text.startswith("-")
        or text.endswith(".")
        or _BRANCH_BAD.search(text) is not None
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
    )
    if wrong:
        raise ValueError("not a branch name; what `git check-ref-format --branch` takes is allowed")
    return text


def host(text: str) -> str:
    """Check a host: a DNS name, an alias of ``~/.ssh/config``, an address, or ``local``."""
    if "@" in text:
        raise ValueError("a user in the host; `user` is a key of its own")
    if _HOST.fullmatch(text):
        return text
    try:
        return str(ipaddress.ip_address(text.removeprefix("[").removesuffix("]")))
    except ValueError:
        pass
    if re.fullmatch(r".+:[0-9]+", text):
        raise ValueError("a port in the host; `port` is a key of its own")
    raise ValueError("not a host; a DNS name, an address, an ssh alias or `local` is allowed")


def user(text: str) -> str:
    """Check a login name."""
    if not _USER.fullmatch(text):
        raise ValueError("not a login name; letters, digits and _ . @ + - are allowed, no - first")
    return text


def registry_host(text: str) -> str:
    """Check a registry's host, as it stands in image references."""
    if "://" in text or "/" in text:
        raise ValueError("more than a host; HOST or HOST:PORT, without https://, is allowed")
    if not _REGISTRY.fullmatch(text):
        raise ValueError("not a registry's host; HOST or HOST:PORT in lower case is allowed")
    return text


def account(text: str) -> str:
    """Check the user name of a registry or an HTTPS Git server."""
    if not text or ":" in text or not text.isprintable() or text != text.strip():
        raise ValueError("not a user name; printable text without a colon is allowed")
    return text


def image(text: str) -> str:
    """Check an image reference."""
    if len(text) > _LONGEST_IMAGE or not _IMAGE.fullmatch(text):
        raise ValueError("not an image reference; [HOST/]NAME[:TAG][@DIGEST] is allowed")
    return text


def port_mapping(text: str) -> str:
    """Check a published port, as ``docker run -p`` takes it."""
    numbers = re.findall(r"[0-9]+", re.sub(_ADDRESS, "", text))
    if not _PORT.fullmatch(text) or not all(0 < int(n) <= _LAST_PORT for n in numbers):
        raise ValueError("not a port; [[ADDRESS:]HOST_PORT:]PORT[/udp] is allowed, 1 to 65535")
    return text


def root(text: str) -> str:
    """Check mqctl's directory on a Marquee; ``~/`` is the login's home there."""
    path = PurePosixPath(text.removeprefix("~"))
    if not text.startswith(("/", "~/")) or ".." in path.parts or len(path.parts) < len(("/", "x")):
        raise ValueError(
            "not a directory; an absolute path, or one that begins with ~/, is allowed"
        )
    if not text.isprintable():
        raise ValueError("a control character in the path; printable text is allowed")
    # Without doubled or trailing slashes, so that one directory has one name.
    return ("~" if text.startswith("~") else "") + "/" + "/".join(path.parts[1:])


def container_path(text: str) -> str:
    """Check where a volume is mounted in a container."""
    path = PurePosixPath(text)
    usable = path.is_absolute() and ".." not in path.parts and len(path.parts) > 1
    if not usable or not text.isprintable() or set(text) & set(":,"):
        raise ValueError("not a mount point; an absolute path without : and , is allowed")
    return text


def local_path(text: str) -> str:
    """Check a path on this machine; where it leads is checked elsewhere."""
    if not text.strip() or not text.isprintable() or len(text) > _LONGEST_PATH:
        raise ValueError("not a path; a path, relative to this file or with ~/, is allowed")
    return text


def inner_path(text: str) -> str:
    """Check a path that stays inside of its folder; give it without ``./`` and doubled ``/``."""
    local_path(text)
    path = PurePosixPath(text)
    if path.is_absolute() or text.startswith(("~", "-")) or ".." in path.parts or not path.parts:
        raise ValueError("leads out of its folder; a relative path without .. is allowed")
    return str(path)


def moment(text: str) -> datetime:
    """Read an RFC 3339 time; without an offset it would mean another time elsewhere."""
    allowed = "RFC 3339 with an offset, such as 2027-01-31T18:00:00Z, is allowed"
    if re.fullmatch(MOMENT_PATTERN, text):
        try:
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValueError(f"no such time; {allowed}") from None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"not a time; {allowed}") from None
    raise ValueError(f"a time without an offset; {allowed}")


def matching(pattern: str, allowed: str, text: str) -> str:
    """Check a text by one pattern."""
    if not re.fullmatch(pattern, text):
        raise ValueError(f"not valid; {allowed} is allowed")
    return text
