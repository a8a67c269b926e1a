"""Who may talk to the page: checked before anything else, for every request.

The page runs on the machine of somebody who also has a browser full of other sites. None of them
may read or steer it: not by a name that suddenly points here (Host), not from their own pages
(Origin, Sec-Fetch-Site), not with a form (SameSite cookie and a token in each form), and not
without the address that ``shoal serve`` printed.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.ext.web.login_links import LinkResult, LoginLinks

LOCAL = ("127.0.0.1", "localhost", "[::1]")
WILD = ("0.0.0.0", "::", "")  # noqa: S104 -- compared with, not bound to

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not 'no-referrer': with that, browsers send 'Origin: null' along with our own forms.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_SAFE = ("GET", "HEAD")
SMALL = 16 << 20  # bytes of a form that carries no file


@dataclass(frozen=True)
class Keys:
    """The secrets of one server: what opens the page, what the browser then holds, what forms hold.

    Browsers share cookies between ports. So the cookie belongs to a secret path, with which every
    address of the page begins: a server on another port is never asked for it, and gets no cookie.
    The cookie's name has the port in it, so that two pages keep theirs apart.
    """

    port: int
    tickets: LoginLinks = field(default_factory=LoginLinks, repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    path: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @property
    def cookie(self) -> str:
        """Name of the session cookie."""
        return f"shoal_{self.port}"

    @property
    def root(self) -> str:
        """How the path of every page begins."""
        return f"/{self.path}"

    def covers(self, path: str) -> bool:
        """Tell whether a path is one of the page: all of them begin in the same secret way."""
        return self.fits(path[: len(self.root) + 1], f"{self.root}/")

    def fits(self, token: str | None, secret: str) -> bool:
        """Compare in a time that tells nothing."""
        return token is not None and hmac.compare_digest(token.encode(), secret.encode())


@dataclass(frozen=True)
class AllowedHosts:
    """Under which names the server may be addressed."""

    host: str
    port: int

    def allows(self, host: str) -> bool:
        """Tell whether a Host header names this server.

        A name that an attacker owns can be made to point here; a bare number cannot. So a server
        that listens everywhere answers to numbers and to the machine's own name only.
        """
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, "80"
        if not port.isdecimal() or int(port) != self.port:
            return False
        if self.host in WILD:
            return name in LOCAL or _number(name) or name == socket.gethostname()
        loops = self.host == "localhost" or (
            _number(self.host) and ipaddress.ip_address(self.host).is_loopback
        )
        return name in (self.host, f"[{self.host}]") or (loops and name in LOCAL)


def _number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


# Makes a page of a status, a head and a text; ``onward`` is where the browser goes from there.
Say = Callable[..., Response]
_AGAIN = (
    "Press Enter in the terminal in which 'shoal serve' runs to get a new address, or stop it "
    "there and start it again."
)


class Guard:
    """The outermost layer: refuses strangers, adds the headers, and bounds what is sent in.

    Parameters
    ----------
    say, too_large
        Make the pages that say why a request was refused.
    limit
        Largest upload in bytes.
    free
        Paths that need no key: the files that are the same for everybody.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        doors: AllowedHosts,
        say: Say,
        too_large: Callable[[Scope, int], Response],
        limit: int,
        free: Collection[str],
    ) -> None:
        self.app, self.keys, self.doors, self.limit = app, keys, doors, limit
        self.say, self.too_large, self.free = say, too_large, free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            return
        answer = self._refuse(scope)
        # An overlong body is refused by its announced length, or at the byte that is too much.
        most = self.limit if scope["path"].endswith(("/open", "/upload", "/plan")) else SMALL
        length = Headers(scope=scope).get("content-length", "0")
        if answer is None and (not length.isdecimal() or int(length) > most):
            answer = self.too_large(scope, most)
        if answer is not None:
            await answer(scope, receive, self._with_headers(send))
            return
        await self.app(scope, _Bounded(receive, most), self._with_headers(send))

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.doors.allows(hosts[0]):
            return self.say(
                scope,
                421,
                "Wrong address",
                "This page answers only under the address that 'shoal serve' printed.",
            )
        origins = headers.getlist("origin")
        strange = origins not in ([], [f"http://{hosts[0]}"])  # nor two that say different things
        if scope["method"] not in (*_SAFE, "POST"):
            return self.say(scope, 405, "Not possible", "The page knows GET and POST only.")
        if strange or (scope["method"] == "POST" and not origins):
            return self.say(
                scope, 403, "Not from here", "Requests from other sites are not answered."
            )
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        # Only GET: whoever looks at an address beforehand must not use it up.
        ours = self.keys.covers(scope["path"])
        if ours and "token" in query and scope["method"] == "GET":
            return self._enter(scope, query, headers)
        if scope["path"] in self.free and scope["method"] in _SAFE:
            return None
        if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
            return self.say(
                scope,
                403,
                "Not from here",
                "The page was asked for by another site. Reload it, or open the address that "
                "'shoal serve' printed.",
            )
        if not ours or not self._inside(headers):
            return self.say(
                scope,
                403,
                "Locked",
                f"Open the page with the address that 'shoal serve' printed; it holds a key. "
                f"{_AGAIN}",
            )
        return None

    def _with_headers(self, send: Send) -> Send:
        """Add the headers, and the secret path to where an answer leads."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                where = headers.get("location", "")
                if where.startswith("/") and not self.keys.covers(where):
                    headers["location"] = self.keys.root + where
            await send(message)

        return sending

    def _inside(self, headers: Headers) -> bool:
        return self.keys.fits(_cookies(headers).get(self.keys.cookie), self.keys.session)

    def _enter(self, scope: Scope, query: Mapping[str, list[str]], headers: Headers) -> Response:
        """Trade the key in the address for a cookie, and take it out of the address.

        By a page that leads on, not by a redirect: that would still count as coming from the file
        that led here, and the browser would keep the cookie to itself.
        """
        if not self._inside(headers):
            answer = self.keys.tickets.redeem(query["token"][0])
            if answer is not LinkResult.OPENS:
                return self._too_late(scope, answer)
        rest = urlencode([(k, v) for k, vs in query.items() if k != "token" for v in vs])
        # A path that starts with two slashes would lead to another host.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        page = self.say(scope, 200, "Opening", "", onward=path + (f"?{rest}" if rest else ""))
        page.set_cookie(
            self.keys.cookie,
            self.keys.session,
            httponly=True,
            samesite="strict",
            path=f"{self.keys.root}/",
        )
        return page

    def _too_late(self, scope: Scope, answer: LinkResult) -> Response:
        if answer is LinkResult.USED:
            return self.say(
                scope,
                403,
                "This address was used",
                "The key in it opens the page once, and it did. If that was not you, stop the "
                f"server: somebody else has the table open. Else: {_AGAIN}",
            )
        return self.say(
            scope,
            403,
            "This address opens nothing",
            f"The key in it is not one of the running server, or older than a minute. {_AGAIN}",
        )


class TooLarge(Exception):
    """More bytes came in than were allowed."""


class _Bounded:
    """Counts the bytes of a body as they come in."""

    def __init__(self, receive: Receive, most: int) -> None:
        self.receive, self.left = receive, most

    async def __call__(self) -> Message:
        message = await self.receive()
        if message["type"] == "http.request":
            self.left -= len(message.get("body", b""))
            if self.left < 0:
                raise TooLarge
        return message


def _cookies(headers: Headers) -> dict[str, Any]:
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in cookies.items()}
