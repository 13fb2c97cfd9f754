"""Health probes over HTTP; the only importer of httpx.

Asked from here, all together, under one deadline. A probe never follows a redirect to another
scheme's surprise and never reads more than the status line needs.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum

PROBE_LIMIT = 5.0  # seconds for all probes together


class Answer(StrEnum):
    """The six answers of a health check, and the one that is no failure of the agent."""

    HEALTHY = "healthy"
    TLS_ERROR = "TLS error"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    NO_NAME = "name not found"
    UNREACHABLE = "unreachable"
    NOT_OK = "not 2xx"


@dataclass(frozen=True, slots=True)
class Health:
    """One probe's answer and its detail for people."""

    answer: Answer
    detail: str = ""


def probe_all(urls: Mapping[str, str], limit: float = PROBE_LIMIT) -> dict[str, Health]:
    """Ask each URL once (name -> URL gives name -> health), in ``limit`` seconds altogether."""
    if not urls:
        return {}
    pool = ThreadPoolExecutor(max_workers=min(16, len(urls)), thread_name_prefix="probe")
    try:
        asked = {pool.submit(_probe, url, limit): name for name, url in urls.items()}
        done, _ = wait(asked, timeout=limit + 0.5)
        answers = {asked[future]: future.result() for future in done}
    finally:
        # A resolver that hangs must not hold up the cycle.
        pool.shutdown(wait=False, cancel_futures=True)
    late = Health(Answer.TIMEOUT, f"no answer in {limit:.0f} s")
    return {name: answers.get(name, late) for name in urls}


def _probe(url: str, limit: float) -> Health:
    import httpx  # noqa: PLC0415 - 0.2 s that only a run with a health URL has to pay

    try:
        with (
            httpx.Client(timeout=limit, trust_env=True, follow_redirects=False) as client,
            client.stream("GET", url) as response,
        ):
            status = response.status_code
    except httpx.TimeoutException:
        return Health(Answer.TIMEOUT, f"no answer in {limit:.0f} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        return _classify(error)
    if 200 <= status < 300:  # noqa: PLR2004 - the 2xx class
        return Health(Answer.HEALTHY, f"HTTP {status}")
    return Health(Answer.NOT_OK, f"HTTP {status}")


def _classify(error: Exception) -> Health:
    """Find the cause behind httpx's and httpcore's wrappers."""
    detail = str(error) or type(error).__name__
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return Health(Answer.TLS_ERROR, detail)
        if isinstance(cause, socket.gaierror):
            return Health(Answer.NO_NAME, detail)
        if isinstance(cause, ConnectionRefusedError):
            return Health(Answer.REFUSED, detail)
        cause = cause.__cause__ or cause.__context__
    return Health(Answer.UNREACHABLE, detail)
