"""Styles and scripts: the report's own and those of these pages, under names that change with them."""

import gzip
import hashlib
from collections.abc import AsyncIterator, Mapping
from functools import cache
from importlib.resources import files

from plotly.offline import get_plotlyjs
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

_REPORT, _HERE = "flowsweep.report", "flowsweep.serve"
_COMMON = ((_HERE, "assets/words.js"), (_REPORT, "scripts/theme.js"))
SCRIPTS = {
    "overview.js": (
        *_COMMON,
        (_HERE, "assets/curve.js"),
        (_HERE, "assets/matrix.js"),
        (_REPORT, "scripts/terms.js"),
        (_HERE, "assets/overview.js"),
    ),
    "path.js": (
        *_COMMON,
        (_HERE, "assets/curve.js"),
        (_REPORT, "scripts/export.js"),
        (_REPORT, "scripts/draw.js"),
        (_HERE, "assets/figure.js"),
        (_HERE, "assets/path.js"),
    ),
    "plain.js": (*_COMMON, (_HERE, "assets/plain.js")),
}
"""Joined in this order into one script each."""
STYLES = ((_REPORT, "page.css"), (_HERE, "assets/serve.css"))
_KINDS = {"js": "text/javascript", "css": "text/css"}
PIECE_BYTES = 64 << 10
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}


def asset(request: Request) -> Response:
    """Answer with a style or a script, which a browser may keep."""
    name = request.path_params["name"]
    if name not in (*SCRIPTS, "page.css", "plotly.js"):
        return PlainTextResponse("Nothing is here.\n", 404)
    headers = (
        dict(_FOR_EVER) if request.query_params.get("of") == digest(name) else {"cache-control": "no-cache"}
    )
    packed = "gzip" in request.headers.get("accept-encoding", "")
    headers |= {"vary": "accept-encoding"} | ({"content-encoding": "gzip"} if packed else {})
    body = _packed(name) if packed else content(name)
    return in_pieces(body, _KINDS[name.rpartition(".")[2]], headers)


def in_pieces(body: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
    """An answer in pieces: the transport of who reads slowly keeps a few, and no copy of it all."""
    length = {"content-length": str(len(body))}
    return StreamingResponse(_pieces(body), media_type=media_type, headers={**headers, **length})


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(body), PIECE_BYTES):
        yield body[begin : begin + PIECE_BYTES]


def address(name: str) -> str:
    """Where a page finds it."""
    return f"/static/{name}?of={digest(name)}"


@cache
def digest(name: str) -> str:
    """What stands for its content."""
    return hashlib.sha256(content(name)).hexdigest()[:16]


@cache
def content(name: str) -> bytes:
    """All of it."""
    if name == "plotly.js":
        return str(get_plotlyjs()).encode()
    if name in SCRIPTS:
        parts = "\n".join(_text(package, file) for package, file in SCRIPTS[name])
        return f'"use strict";\n(() => {{\n{parts}\n}})();\n'.encode()
    return "\n".join(_text(package, file) for package, file in STYLES).encode()


@cache
def _packed(name: str) -> bytes:
    return gzip.compress(content(name), compresslevel=6, mtime=0)


def _text(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text(encoding="utf-8")
