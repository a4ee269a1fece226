"""Who may look: the name that a request asks under, the token where one is needed, headers of each answer."""

import hashlib
import hmac
import ipaddress
import urllib.parse
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "flowsweep_token"
TOKEN_MIN = 16
"""Characters of a token; fewer could be tried out."""
OPEN_PATHS = ("/login", "/health")
"""Are answered without a token; so is `/static/`, which holds nothing of a campaign."""
_MADE_ON_DEMAND = ("/report", "/trial/")
"""Cost seconds of computing each."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Scripts come from here alone. Plotly writes styles into its elements, which needs 'unsafe-inline' there."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def is_loopback(host: str) -> bool:
    """Whether an address, or a name, is this machine's alone."""
    return host == "localhost" or (_is_number(host) and ipaddress.ip_address(host).is_loopback)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def cookie_of(token: str) -> str:
    """What a browser keeps in place of the token."""
    return hmac.new(token.encode(), b"flowsweep page", hashlib.sha256).hexdigest()


class Guard:
    """Wraps an application.

    A page of somebody else may have a browser send requests here under a name of its own that leads to this
    address (DNS rebinding): requests are answered only under names that were agreed on. An address in digits
    is nobody's name.

    Args:
        app: What it wraps.
        hosts: Names under which requests may come, beside localhost and addresses in digits.
        token: What requests must show; None: nothing.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str | None) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answer.setdefault(name, value)
                answer.setdefault("content-security-policy", POLICY)
                answer.setdefault("cache-control", "no-store")
            await send(message)

        asked = scope["path"]
        app = self._app if self._is_known(headers.get("host", "")) else _UNKNOWN_HOST
        if app is self._app and scope["method"] not in ("GET", "HEAD") and asked != "/login":
            app = PlainTextResponse("This page only shows: GET and HEAD.\n", 405, {"allow": "GET, HEAD"})
        if app is self._app and asked.startswith(_MADE_ON_DEMAND) and _is_of_another_page(headers):
            app = PlainTextResponse("Reports are made for who opens them, not for other sites' pages.\n", 403)
        if app is self._app and not self._may_look(asked, headers):
            app = _refusal(scope, headers)
        await app(scope, receive, send_with_headers)

    def _is_known(self, host: str) -> bool:
        try:
            name = urllib.parse.urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name == "localhost" or _is_number(name) or name in self._hosts

    def _may_look(self, path: str, headers: Headers) -> bool:
        if self._token is None or path in OPEN_PATHS or path.startswith("/static/"):
            return True
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same(shown.strip(), self._token):
            return True
        return same(cookie_in(headers.get("cookie", "")), cookie_of(self._token))


def _is_of_another_page(headers: Headers) -> bool:
    """Whether a page of another site asks for it as a part of itself, as an image; a link may lead here."""
    cross = headers.get("sec-fetch-site", "") == "cross-site"
    return cross and headers.get("sec-fetch-dest", "") != "document"


def same(shown: str, expected: str) -> bool:
    """Whether two texts are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(shown.encode(), expected.encode())


def cookie_in(header: str) -> str:
    """The cookie in a request's header; empty if there is none."""
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


_UNKNOWN_HOST = PlainTextResponse(
    "This Flowsweep is not served under that name. `flowsweep serve --name NAME` agrees on one.\n", 421
)


def _refusal(scope: Scope, headers: Headers) -> ASGIApp:
    if "text/html" in headers.get("accept", ""):
        asked = scope["path"] + (
            f"?{scope['query_string'].decode('ascii', 'ignore')}" * bool(scope["query_string"])
        )
        return RedirectResponse(f"/login?{urllib.parse.urlencode({'to': asked})}", 303)
    return PlainTextResponse(
        "A token is needed: Authorization: Bearer TOKEN\n", 401, {"www-authenticate": "Bearer"}
    )
