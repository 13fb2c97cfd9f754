"""A cable between a box's private network and the machine's loopback. A stand-alone program.

`wire.py in FD A=B ...` listens at A on the machine and connects to B in the box; `out` is the
other way round. FD is an open handle of the machine's network namespace. A TCP socket belongs to
the namespace in which it was made, so one thread per rule makes its listener on one side, steps
over to the other side, and makes all its outgoing connections there.

Because each connection runs through here, stopping this process (SIGSTOP) is a network that
swallows packets, and ending it is a network that resets connections.
"""

import contextlib
import ctypes
import os
import socket
import sys
import threading
from collections.abc import Callable

CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


def step_into(namespace: int) -> None:
    """Move the calling thread into another network namespace."""
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def address(text: str) -> tuple[str, int]:
    """Split HOST:PORT."""
    host, _, port = text.rpartition(":")
    return host, int(port)


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy one direction until it ends, then say so to the other side."""
    with contextlib.suppress(OSError):
        while data := source.recv(262144):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def carry(near: socket.socket, target: tuple[str, int]) -> None:
    """Join one accepted connection with a new one to the target."""
    with near, socket.socket() as far:
        try:
            far.connect(target)
        except OSError:
            return
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=pump, args=(far, near), daemon=True)
        back.start()
        pump(near, far)
        back.join()


def serve(rule: str, listen_in: int, dial_in: int, ready: Callable[[], object]) -> None:
    """Accept on one side for ever. Runs in a thread of its own."""
    here, there = (address(part) for part in rule.split("="))
    step_into(listen_in)
    listener = socket.create_server(here, backlog=128)
    step_into(dial_in)
    ready()
    while True:
        near, _ = listener.accept()
        threading.Thread(target=carry, args=(near, there), daemon=True).start()


def main() -> None:
    """Run all rules; say `ready` when every one of them listens."""
    direction, machine, rules = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    box = os.open("/proc/self/ns/net", os.O_RDONLY)
    sides = (machine, box) if direction == "in" else (box, machine)
    counted = threading.Semaphore(0)
    threads = [
        threading.Thread(target=serve, args=(rule, *sides, counted.release)) for rule in rules
    ]
    for thread in threads:
        thread.start()
    for _ in rules:
        counted.acquire()
    print("ready", flush=True)  # noqa: T201 -- what the bed waits for


if __name__ == "__main__":
    main()
