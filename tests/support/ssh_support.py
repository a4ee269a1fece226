"""A real OpenSSH server on this machine, which greets with a banner and a login message."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
LOGIN_MESSAGE = "Last login: Thu Aug 30 10:00:00 2001 from slac"
LOGIN = f"echo '{LOGIN_MESSAGE}'\nexec sh -c \"$SSH_ORIGINAL_COMMAND\""


@contextmanager
def serving(folder: Path, forced: str = LOGIN) -> Iterator[Path]:
    """Run a server for as long as the block runs; the configuration of its client."""
    (folder / "home").mkdir()
    port = free_port()
    write_configuration(folder, port, forced)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    server = subprocess.Popen([str(SSHD), "-D", "-E", str(folder / "log"), "-f", str(folder / "sshd_config")])
    try:
        wait_for_port(port, server)
        yield folder / "ssh_config"
    finally:
        server.terminate()
        server.wait(timeout=10)


def write_configuration(folder: Path, port: int, forced: str = LOGIN) -> None:
    """Keys and configuration of a server on this machine, and of a client for which it is `far`.

    Args:
        folder: where they go; its `home` is home there.
        port: of the server.
        forced: what a shell there does at each login, whatever was asked for.
    """
    for name in ("host_key", "user_key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True, timeout=20)
    (folder / "banner").write_text("Authorised use only.\n")
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    key = (folder / "host_key.pub").read_text().split()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key[0]} {key[1]}\n")
    login = folder / "login"
    login.write_text(f"#!/bin/sh\nexport HOME='{folder / 'home'}'\n{forced}\n")
    login.chmod(0o755)
    (folder / "sshd_config").write_text(
        f"""
        ListenAddress 127.0.0.1
        Port {port}
        HostKey {folder / "host_key"}
        AuthorizedKeysFile {folder / "authorized_keys"}
        PidFile none
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        PermitRootLogin prohibit-password
        Banner {folder / "banner"}
        ForceCommand {login}
        """
    )
    (folder / "ssh_config").write_text(
        f"""
        Host far
            HostName 127.0.0.1
            Port {port}
            IdentityFile {folder / "user_key"}
            IdentitiesOnly yes
            UserKnownHostsFile {folder / "known_hosts"}
            GlobalKnownHostsFile none
            StrictHostKeyChecking yes
            BatchMode yes
        """
    )


def free_port() -> int:
    """A port of this machine that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server that was started takes connections."""

    def answers() -> bool:
        assert server.poll() is None, "sshd ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers, timeout_s=10)
