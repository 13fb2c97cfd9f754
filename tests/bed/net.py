"""Ports and waiting for them."""

import random
import socket
from pathlib import Path

# Below Linux' ephemeral range, so that no outgoing connection takes a port that we just chose.
PORTS = range(20000, 32000)


def free_port() -> int:
    """Choose a loopback port on which nothing listens."""
    for _ in range(200):
        port = random.choice(PORTS)  # noqa: S311 -- nothing to keep secret
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    message = "no free port"
    raise OSError(message)


def unix_answers(path: Path, request: bytes, expected: bytes) -> bool:
    """Ask a question on a unix socket and say whether the answer starts as expected."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
            client.sendall(request)
            return client.recv(4096).startswith(expected)
        except OSError:
            return False
