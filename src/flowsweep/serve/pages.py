"""Pages for people."""

import html
import re
import urllib.parse
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from flowsweep.archive.entries import TRIAL_ID
from flowsweep.figures.theme import CATEGORIES
from flowsweep.run.outcome import Missed
from flowsweep.serve.asked import AskedPath, asked_campaign, asked_path, asked_span, named
from flowsweep.serve.assets import address, in_pieces
from flowsweep.serve.campaign import Pending
from flowsweep.serve.guard import COOKIE, POLICY, cookie_of, same
from flowsweep.serve.quantities import QUANTITIES
from flowsweep.serve.rows import trial_number
from flowsweep.serve.trials import (
    REPORT_MAX,
    ReportsBusyError,
    TooManyTrialsError,
    missed_between,
    report_of,
    trial_on,
    trials_between,
    with_way_back,
)
from flowsweep.serve.watch import Watched
from flowsweep.version import __version__

_TOKEN_BYTES_MAX = 4_096
_OF_TRIAL = re.compile(rf"/trial/[^/?#]+/({TRIAL_ID.pattern})(?:\?[^#]*)?")
_REPORT_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">')


class Pages:
    """Made of templates; what is in campaigns is fetched by their scripts, but for reports."""

    def __init__(self, watched: Sequence[Watched], token: str | None) -> None:
        self._watched = watched
        self._token = token

    def overview(self, _: Request) -> Response:
        """All campaigns: what runs, a matrix of each mesh, the paths."""
        return _page("overview.html.jinja", quantities=QUANTITIES, several=len(self._watched) > 1)

    def path(self, request: Request) -> Response:
        """A path over time."""
        asked = asked_path(request.query_params, self._watched)
        return _page(
            "path.html.jinja",
            campaign=asked.watched.model.name,
            address_of_campaign=asked.watched.model.address,
            path=asked.key,
            quantities=QUANTITIES,
            plotly=address("plotly.js"),
            colours=" ".join(CATEGORIES),
        )

    def trial(self, request: Request) -> Response:
        """A trial's page, as the report has it: `#trial-ID` of the address opens it."""
        given = request.path_params["trial"]
        watched = named(request.path_params["campaign"], self._watched)
        if not TRIAL_ID.fullmatch(given) or watched is None:
            return error_page("There is no such trial", "A trial is named by 12 hexadecimal digits.", 404)
        found = trial_on(watched, trial_number(given))
        if found is None:
            said = f"{watched.model.name} has no trial {given}, or it has not been read yet."
            return error_page("There is no such trial", said, 404)
        key, pending = found
        back = "/path?" + urllib.parse.urlencode({"campaign": watched.model.address, **key._asdict()})
        return self._report(watched, [pending], back)

    def report(self, request: Request) -> Response:
        """The report of a span of time, of one path or of all."""
        query = request.query_params
        asked: AskedPath | None = asked_path(query, self._watched) if "sweep" in query else None
        watched = asked_campaign(query, self._watched) if asked is None else asked.watched
        span = asked_span(query, asked)
        try:
            trials = trials_between(watched, span.begin, span.end, None if asked is None else asked.key)
        except TooManyTrialsError:
            said = (
                f"There are more than {REPORT_MAX} trials in this span: choose a shorter one, or one path. "
                "`flowsweep report` writes the report of a whole archive."
            )
            return error_page("Too much for one report", said, 422)
        if not trials:
            return error_page("Nothing was measured", "No trial began in this span of time.", 404)
        missed = missed_between(watched, span.begin, span.end, None if asked is None else asked.key.sweep)
        return self._report(watched, trials, None, missed)

    async def login(self, request: Request) -> Response:
        """Ask for the token, once a browser."""
        to = request.query_params.get("to", "/")
        # Only to a page of this service: what begins with two slashes leads elsewhere.
        to = to if re.fullmatch(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*", to) else "/"
        if self._token is None:
            return RedirectResponse(_opened(to), 303)
        if request.method != "POST":
            return _page("login.html.jinja", wrong=False, to=to)
        try:
            body = await _body_of(request)
        except ClientDisconnect:
            return Response(status_code=408)  # It did not come in time, and nobody is there any more.
        if len(body) > _TOKEN_BYTES_MAX:
            return _page("login.html.jinja", status=413, wrong=True, to=to)
        form = urllib.parse.parse_qs(body.decode("ascii", "ignore"))
        if not same(form.get("token", [""])[0].strip(), self._token):
            return _page("login.html.jinja", status=403, wrong=True, to=to)
        answer = RedirectResponse(_opened(to), 303)
        answer.set_cookie(
            COOKIE, cookie_of(self._token), httponly=True, samesite="strict",
            secure=_is_encrypted(request), max_age=30 * 86_400,
        )  # fmt: skip
        return answer

    def _report(
        self, watched: Watched, trials: Sequence[Pending], back: str | None, missed: Sequence[Missed] = ()
    ) -> Response:
        try:
            page = report_of(watched, trials, missed)
        except ReportsBusyError:
            return error_page("Busy", "Other reports are being made: try again in a minute.", 503)
        if back is not None:
            page = with_way_back(page, back.replace("&", "&amp;"))
        policy = _REPORT_POLICY.search(page)
        # The report's own policy lets its own scripts run, by their hashes, and no other.
        own = html.unescape(policy[1]) if policy else POLICY
        headers = {"content-security-policy": f"{own}; frame-ancestors 'none'"}
        return in_pieces(page.encode(), "text/html", headers)


def error_page(title: str, said: str, status: int) -> Response:
    """A page that says why there is no other."""
    return _page("error.html.jinja", status=status, title=title, said=said)


def _opened(to: str) -> str:
    """An address with the part that opens a trial's page: what stands behind the # no server is told."""
    found = _OF_TRIAL.fullmatch(to)
    return to if found is None else f"{to}#trial-{found[1]}"


def _is_encrypted(request: Request) -> bool:
    """Whether a browser asks by TLS, as far as a proxy in between says it; a lie only harms whoever lies."""
    told, _, _ = request.headers.get("x-forwarded-proto", "").partition(",")
    return "https" in (request.url.scheme, told.strip().lower())


async def _body_of(request: Request) -> bytes:
    """All that was sent, as far as a token may be long, and some more."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _TOKEN_BYTES_MAX:
            break
    return body


def _page(template: str, *, status: int = 200, **content: object) -> Response:
    text = _environment().get_template(template).render(content, address=address, version=__version__)
    return HTMLResponse(text, status)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("flowsweep.serve", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
