"""Programs that copy a file to a folder over loopback, each with a server of its own that ends with it."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 120
STARTS_WITHIN_S = 10
HERE = "127.0.0.1"
PORTS = {"nc": 15_001, "rsync": 15_002, "scp": 15_003, "XRootD": 15_004, "GridFTP": 15_005}
ADMINISTRATORS = f"{os.environ['PATH']}:/usr/sbin:/sbin"
"""Where servers are, too."""
NOBODY = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
"""Who servers run as that root is not to run."""
CONNECTIONS = "4"
"""Of a copy over several."""
Copy = Callable[[Path, Path], None]
"""From one path to another."""


class Copier(NamedTuple):
    """One of these programs."""

    name: str
    programs: tuple[str, ...]
    """All that it needs."""
    packages: str
    """That bring them, on Debian and Ubuntu."""
    serving: Callable[[Path, Path], AbstractContextManager[Mapping[str, Copy]]]
    """Its server of a folder, with another one for what it needs itself: ways to copy there, by name."""

    @property
    def missing(self) -> str:
        """What is not installed, and what brings it; empty where all is there."""
        absent = [name for name in self.programs if shutil.which(name, path=ADMINISTRATORS) is None]
        return f"no {' and no '.join(absent)}: `apt-get install {self.packages}` brings it" if absent else ""


@contextmanager
def nc(_sink: Path, _folder: Path) -> Iterator[Mapping[str, Copy]]:
    """Plain TCP from one program's input to another's output, both started for each file."""

    def copy(source: Path, target: Path) -> None:
        port = str(PORTS["nc"])
        with target.open("wb") as file, source.open("rb") as given:
            server = subprocess.Popen(["nc", "-N", "-l", HERE, port], stdin=subprocess.DEVNULL, stdout=file)
            try:
                until = time.monotonic() + TIMEOUT_S
                while subprocess.run(["nc", "-N", HERE, port], stdin=given, check=False).returncode:
                    if time.monotonic() > until:
                        raise TimeoutError
                    time.sleep(0.001)
                server.wait(TIMEOUT_S)
            finally:
                server.kill()
                server.wait()

    yield {"nc": copy}


@contextmanager
def rsync(sink: Path, folder: Path) -> Iterator[Mapping[str, Copy]]:
    """Whole files, to a daemon, without encryption."""
    config, port = folder / "rsyncd.conf", PORTS["rsync"]
    config.write_text(
        f"use chroot = no\n[sink]\npath = {sink}\nread only = no\nuid = {os.getuid()}\n", encoding="utf-8"
    )

    def copy(source: Path, target: Path) -> None:
        url = f"rsync://{HERE}:{port}/sink/{target.name}"
        run(["rsync", "--whole-file", "--inplace", str(source), url])

    command = ["rsync", "--daemon", "--no-detach", f"--address={HERE}", f"--port={port}"]
    with running([*command, f"--config={config}"], port):
        yield {"rsync": copy}


@contextmanager
def scp(_sink: Path, folder: Path) -> Iterator[Mapping[str, Copy]]:
    """Encrypted, as it always is; with keys made for it."""
    for key in ("host", "user"):
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)])
    shutil.copy(folder / "user.pub", folder / "authorized")
    server, client, port = folder / "sshd_config", folder / "ssh_config", PORTS["scp"]
    server.write_text(
        f"Port {port}\nListenAddress {HERE}\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nUsePAM no\nPidFile none\n"
        "Subsystem sftp internal-sftp\n",
        encoding="utf-8",
    )
    client.write_text(
        f"Host far\nHostName {HERE}\nPort {port}\nIdentityFile {folder / 'user'}\n"
        "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n",
        encoding="utf-8",
    )
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)

    def copy(source: Path, target: Path) -> None:
        run(["scp", "-q", "-F", str(client), str(source), f"far:{target}"])

    with running([program("sshd"), "-D", "-f", str(server), "-E", str(folder / "sshd.log")], port):
        yield {"scp": copy}


@contextmanager
def xrootd(sink: Path, folder: Path) -> Iterator[Mapping[str, Copy]]:
    """XRootD's own protocol, without a key: this host is let in, and no other."""
    config, own, port = folder / "xrootd.cfg", folder / "xrootd", PORTS["XRootD"]
    own.mkdir()
    config.write_text(
        f"xrd.port {port}\nxrd.allow host {HERE}\nxrd.network nodnr\n"
        f"all.export {sink}\nall.adminpath {own}\nall.pidpath {own}\n",
        encoding="utf-8",
    )

    def copying(*options: str) -> Copy:
        def copy(source: Path, target: Path) -> None:
            run(["xrdcp", "--silent", *options, str(source), f"root://{HERE}:{port}/{target}"])

        return copy

    # It refuses to run as root.
    for needed in (sink, own):
        give_to_nobody(needed)
    with running(["xrootd", "-c", str(config), "-l", str(own / "log")], port, NOBODY):
        yield {"XRootD": copying(), f"XRootD, {CONNECTIONS} connections": copying("--streams", CONNECTIONS)}


@contextmanager
def gridftp(sink: Path, _folder: Path) -> Iterator[Mapping[str, Copy]]:
    """GridFTP without a name, a key or encryption."""
    port = PORTS["GridFTP"]

    def copying(*options: str) -> Copy:
        def copy(source: Path, target: Path) -> None:
            run(["globus-url-copy", *options, source.as_uri(), f"ftp://{HERE}:{port}{target}"])

        return copy

    command = [
        program("globus-gridftp-server"), "-c", "none", "-allow-anonymous", "-port", str(port),
        "-control-interface", HERE, "-data-interface", HERE, "-log-level", "ERROR",
    ]  # fmt: skip
    several = copying("-fast", "-parallel", CONNECTIONS)
    # As root it wants a user for strangers to be.
    give_to_nobody(sink)
    with running(command, port, NOBODY):
        yield {"GridFTP": copying(), f"GridFTP, {CONNECTIONS} connections": several}


COPIERS = (
    Copier("nc", ("nc",), "netcat-openbsd", nc),
    Copier("rsync", ("rsync",), "rsync", rsync),
    Copier("scp", ("scp", "sshd"), "openssh-client openssh-server", scp),
    Copier("XRootD", ("xrootd", "xrdcp"), "xrootd-server xrootd-client", xrootd),
    Copier(
        "GridFTP",
        ("globus-gridftp-server", "globus-url-copy"),
        "globus-gridftp-server-progs globus-gass-copy-progs",
        gridftp,
    ),
)


def program(name: str) -> str:
    """Where a server is."""
    return shutil.which(name, path=ADMINISTRATORS) or name


def give_to_nobody(folder: Path) -> None:
    """Have a server that does not run as root write there; others than root run it as they are."""
    if NOBODY is not None:
        os.chown(folder, NOBODY.pw_uid, -1)


@contextmanager
def running(command: list[str], port: int, user: pwd.struct_passwd | None = None) -> Iterator[None]:
    """Have a server run, from when it listens; as this user if one is given."""
    uid, gid, others = (user.pw_uid, user.pw_gid, ()) if user else (None, None, None)
    process = subprocess.Popen(command, user=uid, group=gid, extra_groups=others)
    try:
        wait_for(process, port)
        yield
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    """Until a server listens."""
    until = time.monotonic() + STARTS_WITHIN_S
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((HERE, port)) == 0:
                return
        time.sleep(0.01)
    message = f"{process.args!r} does not listen on port {port} within {STARTS_WITHIN_S} s"
    raise TimeoutError(message)


def run(command: list[str]) -> None:
    """Run a program to its good end."""
    subprocess.run(command, timeout=TIMEOUT_S, check=True)
