"""Serving until a signal comes: the socket, and who may be asked for what there."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from flowsweep.archive.campaign import archives_in
from flowsweep.errors import FlowsweepError, ServeError
from flowsweep.serve.apart import has_changed, tell_apart
from flowsweep.serve.app import application
from flowsweep.serve.cache import cache_folder
from flowsweep.serve.deadline import Deadlined
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.guard import TOKEN_MIN, is_loopback
from flowsweep.serve.watch import Watched

__all__ = [
    "cache_folder", "listening_socket", "look_for_more", "make_server", "read_address", "read_token",
    "watched_in",
]  # fmt: skip

CONNECTIONS_MAX = 400
_GRACE_S = 2
_HEADER_BYTES_MAX = 32 << 10
_TOKEN_BYTES_MAX = 4 << 10


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """Read HOST:PORT, as in 127.0.0.1:8420 or [::1]:8420.

    Raises:
        ServeError: It has another form.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ServeError(f"--address: found {text[:60]!r}, expected HOST:PORT, as in 127.0.0.1:8420")
    return Address(host, int(port))


def read_token(file: Path) -> str:
    """Read a token from a file.

    Raises:
        ServeError: It cannot be read, or is one that could be tried out.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_TOKEN_BYTES_MAX + 1).decode("ascii").strip()
    except OSError as error:
        raise ServeError(f"--token-file: {file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        text = ""  # refused below
    if not TOKEN_MIN <= len(text) <= _TOKEN_BYTES_MAX or not text.isprintable() or " " in text:
        raise ServeError(
            f"--token-file: {file}: expected one word of {TOKEN_MIN} characters or more, "
            "as `openssl rand -hex 24` makes"
        )
    return text


def listening_socket(address: Address, token: str | None) -> socket.socket:
    """Open the socket.

    Raises:
        ServeError: It would show campaigns to others without a token, or the address is not to be had.
    """
    if token is None and not is_loopback(address.host):
        raise ServeError(
            f"--address {address}: others than this machine can reach that address: give a token with "
            "--token-file FILE, or listen at 127.0.0.1 and let a reverse proxy in front decide who may look"
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(CONNECTIONS_MAX)
    except OSError as error:
        made.close()
        raise ServeError(f"--address {address}: cannot listen there: {error.strerror or error}") from error
    return made


def watched_in(folders: Sequence[Path], cache: Path | None = None) -> list[Watched]:
    """Archives, and those of folders of archives, numbered in their order; what is read is kept in a cache.

    Raises:
        ArchiveError: One is none.
    """
    archives = [archive for folder in folders for archive in archives_in(folder) or [folder]]
    # One that is named twice, as beside its folder, is one.
    once = {archive.resolve(): archive for archive in reversed(archives)}
    shown = [archive for archive in archives if once.get(archive.resolve()) is archive]
    watched = [Watched(number, archive, cache) for number, archive in enumerate(shown)]
    tell_apart(watched)
    return watched


def look_for_more(folders: Sequence[Path], watched: list[Watched], cache: Path | None = None) -> None:
    """Add archives that came into folders of archives since, numbered behind those that are watched.

    One that cannot be read yet is looked at again the next time. One that was left since its plan changed,
    and removed then, is watched no more, unless it comes back; its number stays its own.
    """
    known = {one.folder.path.resolve() for one in watched}
    there = [archive for folder in folders for archive in archives_in(folder)]
    more: list[Watched] = []
    for archive in there:
        if archive.resolve() not in known:
            with suppress(FlowsweepError, OSError):
                more.append(Watched(len(watched) + len(more), archive, cache))
                known.add(archive.resolve())
    if more or any(has_changed(one) for one in watched):
        # Before anybody sees them: two of one name would be one in metrics.
        tell_apart([*watched, *more])
        watched.extend(more)
    for one in watched:
        removed = one.model.is_succeeded and not one.folder.path.exists()
        one.model.is_gone = one.is_twin or removed


def make_server(
    watched: Sequence[Watched],
    opened: socket.socket,
    *,
    names: Sequence[str] = (),
    token: str | None = None,
    ready: Callable[[], object] = int,
    more: Callable[[], object] = int,
) -> "Server":
    """Make what serves archives; its `run` goes on until a signal comes, which is raised again at the end.

    Args:
        watched: Archives, numbered in their order.
        opened: A listening socket.
        names: Under which requests may come, beside localhost and addresses in digits.
        token: What requests must show.
        ready: Called once requests are answered.
        more: Called now and then, by the thread that watches: adds archives that are new.
    """
    broadcaster = Broadcaster()
    app = application(watched, broadcaster, hosts=names, token=token, more=more)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
        http=Deadlined,
    )
    return Server(config, broadcaster, ready, opened)


class Server(uvicorn.Server):
    """Lets pages that listen go before it waits for connections to end."""

    def __init__(
        self,
        config: uvicorn.Config,
        broadcaster: Broadcaster,
        ready: Callable[[], object],
        opened: socket.socket,
    ) -> None:
        super().__init__(config)
        self._broadcaster = broadcaster
        self._ready = ready
        self._opened = opened

    def serve_until_signal(self) -> None:
        """Serve; a signal ends it, and is raised again at the end."""
        self.run(sockets=[self._opened])

    def end(self) -> None:
        """End from another thread, as a signal does."""
        self._broadcaster.close()
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        if self.started:
            await asyncio.get_running_loop().run_in_executor(None, self._ready)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Answer a signal."""
        self._broadcaster.close()
        super().handle_exit(sig, frame)
