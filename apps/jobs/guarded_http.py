"""HTTP to addresses that people typed in: the address that is connected to is the one that was checked.

The guard sits where the socket is opened, so neither a name that resolves anew nor a literal in odd notation
leads elsewhere. There are no redirects and no proxies, and the whole exchange has one deadline. Resolving a
name is left to the system and its own time-outs.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpcore
import httpx

from apps.core.texts import say
from apps.jobs.engine.addresses import AllowList, may_call

READ_AT_MOST_BYTES = 2048


class AddressRefused(httpx.TransportError):
    """The host's address is not one that the portal calls."""


class AnswerTooLong(httpx.TransportError):
    """The answer is longer than it may be."""


class _DeadlineStream(httpcore.NetworkStream):
    """A connection that ends at a point in time, however slowly the other side drips."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def _left(self, timeout: float | None, error: type[Exception]) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise error(say("the time is over"))
        return left if timeout is None else min(left, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _GuardedBackend(httpcore.NetworkBackend):
    """Resolves a host once, checks every address, and connects to one of exactly these."""

    def __init__(self, allowed: AllowList, until: float) -> None:
        self._allowed, self._until = allowed, until
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = _resolved(host, port)
        for address in addresses:
            if not may_call(ipaddress.ip_address(address), host=host, allowed=self._allowed):
                raise AddressRefused(
                    say("%(host)s leads to %(address)s, which is not called", host=host, address=address)
                )
        left = self._until - time.monotonic()
        if left <= 0:
            raise httpcore.ConnectTimeout(say("the time is over"))
        return _DeadlineStream(self._plain.connect_tcp(addresses[0], port, timeout=left), self._until)


def _resolved(host: str, port: int) -> list[str]:
    """The host's addresses, without IPv6 zones. Raises httpcore.ConnectError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(
            say("%(host)s cannot be resolved: %(error)s", host=host, error=error)
        ) from error
    return [str(item[4][0]).partition("%")[0] for item in found]


class GuardedTransport(httpx.BaseTransport):
    """httpx's transport for one exchange. within_s: seconds for all of it. at_most_bytes: of the answer."""

    def __init__(
        self, *, allowed: AllowList, within_s: float, at_most_bytes: int = READ_AT_MOST_BYTES
    ) -> None:
        self._at_most_bytes = at_most_bytes
        until = time.monotonic() + within_s
        self._allowed = allowed
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=1,
            network_backend=_GuardedBackend(allowed, until),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises AddressRefused, httpx.TransportError, and httpx.InvalidURL for what no socket can be opened to."""
        if request.url.scheme != "https" and not self._allowed.names(request.url.host):
            raise AddressRefused(say("plain http is only for hosts that PORTAL_WEBHOOK_ALLOW names"))
        try:
            with self._pool.stream(
                request.method,
                str(request.url),
                headers=request.headers.raw,
                content=request.read(),
            ) as answer:
                return httpx.Response(
                    answer.status, headers=answer.headers, content=_beginning(answer, self._at_most_bytes)
                )
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise httpx.TransportError(str(error) or type(error).__name__) from error
        except ValueError as error:  # a port beyond 65535, which httpx lets pass
            raise httpx.InvalidURL(str(error)) from error

    def close(self) -> None:
        self._pool.close()


def _beginning(answer: httpcore.Response, at_most_bytes: int) -> bytes:
    """The first bytes of an answer; the rest is not read."""
    begun = bytearray()
    for part in answer.iter_stream():
        begun += part
        if len(begun) >= at_most_bytes:
            break
    return bytes(begun[:at_most_bytes])


def get(
    url: str,
    *,
    params: dict[str, str],
    allowed: AllowList,
    within_s: float,
    at_most_bytes: int,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Ask for something. Raises httpx.TransportError, AddressRefused and AnswerTooLong among them, and InvalidURL."""
    transport = GuardedTransport(allowed=allowed, within_s=within_s, at_most_bytes=at_most_bytes + 1)
    with httpx.Client(transport=transport, follow_redirects=False, trust_env=False) as client:
        # Compressed, a short answer could unfold to any size.
        told = {**(headers or {}), "accept-encoding": "identity"}
        answer = client.get(url, params=params, headers=told)
    if len(answer.content) > at_most_bytes:
        raise AnswerTooLong(
            say("the answer is longer than %(at_most_bytes)s bytes", at_most_bytes=at_most_bytes)
        )
    return answer


def post(
    url: str, *, body: str, headers: dict[str, str], allowed: AllowList, within_s: float
) -> httpx.Response:
    """Send a body. Raises httpx.TransportError, AddressRefused among them, and httpx.InvalidURL."""
    with httpx.Client(
        transport=GuardedTransport(allowed=allowed, within_s=within_s),
        follow_redirects=False,
        trust_env=False,
    ) as client:
        return client.post(url, content=body.encode(), headers=headers)
