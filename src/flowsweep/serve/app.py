"""The application: which address shows what."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from flowsweep.errors import FlowsweepError
from flowsweep.serve.answers import Answers
from flowsweep.serve.assets import asset
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.guard import Guard
from flowsweep.serve.pages import Pages, error_page
from flowsweep.serve.watch import Watched, Watcher

_GZIP_FROM_BYTES = 1_000


def application(
    watched: Sequence[Watched],
    broadcaster: Broadcaster,
    *,
    hosts: Sequence[str] = (),
    token: str | None = None,
    more: Callable[[], object] = int,
) -> ASGIApp:
    """Make the application; it watches the archives from its start to its end.

    Args:
        watched: Archives, numbered in their order.
        broadcaster: Tells pages; whoever ends the server closes it, so that no page holds the end up.
        hosts: Names under which requests may come, beside loopback ones.
        token: What requests must show; None: nothing.
        more: Adds archives that are new.
    """

    def tell(number: int, what: str) -> None:
        model = watched[number].model
        broadcaster.tell({"campaign": model.address, "what": what, "version": model.version})

    watcher = Watcher(watched, tell, more)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watcher.start()
        try:
            yield
        finally:
            watcher.stop()

    answers = Answers(watched, watcher, broadcaster)
    pages = Pages(watched, token)
    app = Starlette(
        routes=[
            Route("/", pages.overview),
            Route("/path", pages.path),
            Route("/report", pages.report),
            Route("/trial/{campaign}/{trial}", pages.trial),
            Route("/login", pages.login, methods=["GET", "POST"]),
            Route("/api/overview", answers.overview),
            Route("/api/live", answers.live),
            Route("/api/series", answers.series),
            Route("/events", answers.events),
            Route("/metrics", answers.metrics),
            Route("/health", answers.health),
            Route("/static/{name}", asset),
        ],
        lifespan=lifespan,
        middleware=[Middleware(GZipMiddleware, minimum_size=_GZIP_FROM_BYTES, compresslevel=5)],
        exception_handlers={FlowsweepError: _refused, 404: _not_there},
    )
    return Guard(app, hosts, token)


def _refused(request: Request, error: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        return PlainTextResponse(f"{error}\n", 422)
    return error_page("This cannot be shown", str(error), 422)


def _not_there(_: Request, __: Exception) -> Response:
    return error_page("Nothing is here", "The address leads to no page of this service.", 404)
