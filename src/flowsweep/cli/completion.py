"""What a shell offers when a person presses Tab: plan files, and hosts that this machine knows."""

import os
from pathlib import Path

_SSH_CONFIG = Path("~/.ssh/config")
_NAMESPACES = Path("/run/netns")
_THERE = "_FLOWSWEEP_THERE"
_WAYS = ("local", "exec:")


def complete_plan(incomplete: str) -> list[str]:
    """Give plan files and folders whose path begins like this; folders end with a slash."""
    folder, _, beginning = incomplete.rpartition("/")
    place = Path(f"{folder}/" if folder or incomplete.startswith("/") else ".")
    try:
        found = sorted(path for path in place.iterdir() if path.name.startswith(beginning))
    except OSError:
        return []
    before = incomplete[: len(incomplete) - len(beginning)]
    return [
        f"{before}{path.name}{'/' if path.is_dir() else ''}"
        for path in found
        if (path.is_dir() or path.suffix == ".toml") and (beginning or not path.name.startswith("."))
    ]


def complete_host(incomplete: str) -> list[str]:
    """Give what may stand for HOST and begins like this: hosts of ssh's configuration, network namespaces."""
    known = [*_WAYS, *(f"ssh:{name}" for name in _of_ssh()), *(f"netns:{name}" for name in _namespaces())]
    there = os.environ.get(_THERE, "")
    return [host.removeprefix(there) for host in known if host.startswith(there + incomplete)]


def join_words_of_bash() -> None:
    """Put words together that Bash took apart at a colon, before Typer reads them.

    Of the last one Bash wants only back what follows the colon: what stands before goes to the environment,
    for `complete_host`.
    """
    if os.environ.get("_FLOWSWEEP_COMPLETE") != "complete_bash":
        return
    words = os.environ.get("COMP_WORDS", "").split("\n")[: int(os.environ.get("COMP_CWORD", "0")) + 1]
    joined: list[str] = []
    for word in words:
        if joined and (word == ":" or joined[-1].endswith(":")):
            joined[-1] += word
        else:
            joined.append(word)
    there, colon, last = joined[-1].rpartition(":")
    if colon and joined[-1] != words[-1]:
        os.environ[_THERE], joined[-1] = there + colon, last
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(joined), str(len(joined) - 1)


def _of_ssh() -> list[str]:
    """Names that ssh's configuration has, without patterns."""
    try:
        lines = _SSH_CONFIG.expanduser().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    words = [line.replace("=", " ", 1).split() for line in lines]
    names = [name for first, *others in filter(None, words) if first.lower() == "host" for name in others]
    return [name for name in dict.fromkeys(names) if not set(name) & set("*?!")]


def _namespaces() -> list[str]:
    try:
        return sorted(path.name for path in _NAMESPACES.iterdir())
    except OSError:
        return []
