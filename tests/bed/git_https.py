"""Git over HTTPS for the bed's repositories, asking for a user and a token. A stand-alone program.

`git_https.py PORT CERTIFICATE KEY REPOSITORIES LOG USER TOKEN`. The work is done by git's own
`http-backend`; this only speaks HTTP. Each request that passed is noted as the SSH server does.
"""

import base64
import http.server
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PORT, CERTIFICATE, KEY, REPOSITORIES, LOG, USER, TOKEN = sys.argv[1:8]
PASS = "Basic " + base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request: check the token, then hand it to git."""

    def do_GET(self) -> None:
        """Answer the question for references."""
        self.serve()

    def do_POST(self) -> None:
        """Answer a fetch or a push."""
        self.serve()

    def serve(self) -> None:
        """Run `git http-backend` on the request and pass its answer on."""
        if self.headers.get("Authorization") != PASS:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        where = urlsplit(self.path)
        if self.command == "GET":
            service = where.query.removeprefix("service=")
            with Path(LOG).open("a") as log:
                log.write(f"{service} {where.path.strip('/').removesuffix('/info/refs')}\n")
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            env=self._cgi(where.path, where.query),
            check=False,
        )
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _cgi(self, path: str, query: str) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "GIT_PROJECT_ROOT": REPOSITORIES,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": USER,
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "HOME": REPOSITORIES,
        }

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Say nothing: requests are noted in a file of their own."""


def main() -> None:
    """Serve for ever."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(CERTIFICATE), Path(KEY))
    # Without a handshake on accept, a client that only connects does not block the others.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    print("ready", flush=True)  # noqa: T201 -- what the bed waits for
    server.serve_forever()


if __name__ == "__main__":
    main()
