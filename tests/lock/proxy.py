"""A network that misbehaves: a TCP proxy before Redis that loses, delays and cuts."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Self

Handler = Callable[[socket.socket], None]


class Listener:
    """A TCP server on loopback; ``handle`` gets each connection in a thread of its own."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            self._handle(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()
        self._thread.join(5)


class Proxy(Listener):
    """Before a Redis. It misbehaves once, at the first request with ``marker`` in it.

    ``lose_reply``: the request arrives, its answer does not. ``delay``: the client is cut off at
    once and the request arrives only when ``let_go`` is set. ``before`` runs first.
    """

    def __init__(
        self,
        port: int,
        marker: bytes,
        *,
        lose_reply: bool = False,
        delay: bool = False,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._port = port
        self._marker = marker
        self._lose_reply = lose_reply
        self._delay = delay
        self._before = before
        self._armed = True
        self.let_go = threading.Event()
        self.delivered = threading.Event()
        super().__init__(self._relay)

    def _relay(self, client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._port)) as server:
            silent = threading.Event()
            back = threading.Thread(target=_answers, args=(server, client, silent), daemon=True)
            back.start()
            while request := client.recv(65536):
                if self._armed and self._marker in request:
                    self._armed = False
                    self._before()
                    if self._lose_reply or self._delay:
                        silent.set()
                    if self._delay:
                        client.shutdown(socket.SHUT_RDWR)
                        self.let_go.wait(30)
                    server.sendall(request)
                    self.delivered.set()
                    if self._delay:
                        back.join(5)
                        return
                else:
                    server.sendall(request)


def _answers(server: socket.socket, client: socket.socket, silent: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while answer := server.recv(65536):
            if silent.is_set():
                server.shutdown(socket.SHUT_RDWR)  # it was carried out: its answer is here
                continue
            client.sendall(answer)
