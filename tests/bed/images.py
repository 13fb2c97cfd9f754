"""Small images for a registry, made in memory: busybox and one entry script each.

The behaviour of an image is its *kind*; entry scripts ignore their arguments, so that a Compose
file's `command:` meant for a real server does no harm. The *marker* is in the image (label and
file `/marker`), so another marker is another image id under the same tag.
"""

import functools
import gzip
import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tests.bed.packages import program

Kind = Literal[
    "server", "crash", "oneshot", "unhealthy", "healthy", "http", "stubborn", "slow", "failing"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

APPLETS = (  # noqa: SIM905 -- one name a line would be forty lines
    "sh ash sleep cat echo ls env wget nc httpd mkdir rm touch test [ true false kill ps grep sed "
    "id hostname date dd tail head stat find cp mv chmod chown ln sync printf seq tar md5sum"
).split()

_WAIT = "trap 'exit 0' TERM INT\nwhile :; do sleep 3600 & wait $!; done\n"
_HTTP = (
    "httpd -f -p ${PORT:-8080} -h /www & child=$!\n"
    "trap 'kill $child; exit 0' TERM INT\n"
    "while :; do wait $child; done\n"
)
ENTRIES: dict[Kind, str] = {
    "server": "echo ready\n" + _WAIT,
    "crash": "echo crashing >&2\nsleep 0.2\nexit 1\n",
    "oneshot": "echo done\nexit 0\n",
    "failing": "echo failed >&2\nexit 3\n",
    "unhealthy": _WAIT,
    "healthy": _WAIT,
    "http": _HTTP,
    "stubborn": "trap '' TERM INT\nwhile :; do sleep 3600 & wait $!; done\n",
    "slow": "sleep ${SLOW_START:-10}\necho ready\n" + _WAIT,
}

_SECOND = 1_000_000_000
_CHECKS: dict[Kind, str] = {
    "unhealthy": "exit 1",
    "healthy": "[ ! -e /sick ]",  # `docker exec C touch /sick` makes it unhealthy
    "http": "wget -q -O /dev/null http://127.0.0.1:${PORT:-8080}/health",
    "slow": "[ -e /proc/1/fd ]",
}


@dataclass(frozen=True)
class Image:
    """A schema-2 image: blobs by digest, and the manifest."""

    id: str
    blobs: dict[str, bytes]
    manifest: bytes

    media_type: str = "application/vnd.docker.distribution.manifest.v2+json"


def digest(data: bytes) -> str:
    """Give the content address of a blob."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def build(kind: Kind, marker: str) -> Image:
    """Make an image. The same kind and marker give the same image id everywhere."""
    layers = [_base(), _layer(_own_files(kind, marker))]
    config: dict[str, Any] = {
        "Env": ["PATH=/bin"],
        "Entrypoint": ["/bin/sh", "/entry"],
        "Labels": {"bed.kind": kind, "bed.marker": marker},
        "WorkingDir": "/",
    }
    if kind in _CHECKS:
        config["Healthcheck"] = {
            "Test": ["CMD-SHELL", _CHECKS[kind]],
            "Interval": _SECOND // 2,
            "Timeout": 2 * _SECOND,
            "Retries": 2,
        }
    described = json.dumps(
        {
            "architecture": _architecture(),
            "os": "linux",
            "created": "2024-01-01T00:00:00Z",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [digest(tar) for tar, _ in layers]},
            "history": [{"created": "2024-01-01T00:00:00Z"} for _ in layers],
        }
    ).encode()
    blobs = {digest(packed): packed for _, packed in layers} | {digest(described): described}
    manifest = {
        "schemaVersion": 2,
        "mediaType": Image.media_type,
        "config": {
            "mediaType": "application/vnd.docker.container.image.v1+json",
            "size": len(described),
            "digest": digest(described),
        },
        "layers": [
            {
                "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
                "size": len(packed),
                "digest": digest(packed),
            }
            for _, packed in layers
        ],
    }
    return Image(digest(described), blobs, json.dumps(manifest).encode())


def _architecture() -> str:
    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


@functools.cache
def _base() -> tuple[bytes, bytes]:
    """Make the layer that all images share."""
    files: dict[str, bytes | str] = {"bin/busybox": Path(program("busybox")).read_bytes()}
    files |= {f"bin/{applet}": "busybox" for applet in APPLETS}
    files |= {
        "etc/passwd": b"root:x:0:0:root:/:/bin/sh\nwww-data:x:33:33::/:/bin/sh\n",
        "etc/group": b"root:x:0:\nwww-data:x:33:\n",
        "tmp/.keep": b"",
    }
    return _layer(files)


def _own_files(kind: Kind, marker: str) -> dict[str, bytes | str]:
    return {
        "entry": ENTRIES[kind].encode(),
        "marker": marker.encode(),
        "www/index.html": marker.encode(),
        "www/health": b"ok\n",
        "www/api/health": b"ok\n",
    }


def _layer(files: dict[str, bytes | str]) -> tuple[bytes, bytes]:
    """Pack files (bytes) and symbolic links (text) as a layer: plain and compressed."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        folders: set[str] = set()
        for name, content in files.items():
            for folder in reversed([str(path) for path in Path(name).parents][:-1]):
                if folder not in folders:
                    folders.add(folder)
                    entry = tarfile.TarInfo(folder)
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(entry)
            entry = tarfile.TarInfo(name)
            entry.mode = 0o755
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                tar.addfile(entry)
            else:
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return plain.getvalue(), gzip.compress(plain.getvalue(), compresslevel=1, mtime=0)
