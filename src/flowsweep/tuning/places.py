"""Where hosts are whose settings may be raised, and what a person calls them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from flowsweep.hosts.ssh import ssh_call
from flowsweep.wording import printable

_NETNS = ("ip", "netns", "exec")
_OF_CONTAINERS = frozenset(
    ("docker", "podman", "nerdctl", "crictl", "kubectl", "oc", "docker-compose", "podman-compose")
)
_RUN = "run"
_INTO_CONTAINERS = frozenset(("exec", "rsh", _RUN))
_WITH_OPTION = frozenset(("docker", "podman", "nerdctl"))
"""Whose `run` takes --sysctl; that of `docker compose` does not."""
_WITHOUT_VALUE = frozenset(
    ("-D", "--debug", "--tls", "--tlsverify", "-r", "--remote", "--verbose", "--insecure-skip-tls-verify")
)
"""Options of these tools behind which another word follows, as are all that have their value behind a =."""
_FLAGS_OF_RUN = re.compile(
    r"-[ditPq]+|--(?:detach|disable-content-trust|env-host|http-proxy|init|interactive|no-healthcheck"
    r"|no-hostname|no-hosts|oom-kill-disable|privileged|publish-all|quiet|read-only|read-only-tmpfs|replace"
    r"|rm|rmi|sig-proxy|tls-verify|tty)"
)
"""Options of `run` that another word follows, likewise."""
_NETWORK_OPTIONS = frozenset(("--network", "--net"))


class Means(StrEnum):
    """What sets something on a host; JSON has it by these names."""

    own_file = "sysctl_d"
    machines_file = "machine_sysctl_d"
    """Of the machine whose network a container shares."""
    commands = "commands"
    run_options = "run_options"
    """Of a launcher that starts a container."""
    start_settings = "start_settings"
    """Of a pod, or of a service of a compose file."""
    commands_elsewhere = "commands_elsewhere"
    """In what a container that is started has the network of."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host is."""

    name: str
    """What a person calls it."""
    launch: tuple[str, ...] = ()
    """What starts engines there."""
    seen_as_namespace: bool | None = None
    """Whether what its engine recorded is of a network namespace (`hosts.namespaces`); None: not recorded."""

    @property
    def means(self) -> Means:
        """What sets something there.

        A file where what is set is known to be a machine's, and keeps the settings of its kernel: a network
        namespace, as a container's, has settings of its own, and what else a launcher leads to is not known.
        """
        if self.shares_network:
            return Means.machines_file
        call = ssh_call(self.launch)
        if not self.is_namespace and (not self.launch or (call is not None and not call.command)):
            return Means.own_file
        if self.network_of is not None:
            return Means.commands_elsewhere
        if self.starts_container:
            return Means.run_options if self.takes_sysctls else Means.start_settings
        return Means.commands

    @property
    def has_file(self) -> bool:
        """Whether a file of a machine keeps what is set."""
        return self.means in (Means.own_file, Means.machines_file)

    @property
    def is_namespace(self) -> bool:
        """Whether its launcher, here or behind an ssh, or its engine says that it is a network namespace."""
        return bool(self.seen_as_namespace) or (self.enters_namespace and not self.shares_network)

    @property
    def shares_network(self) -> bool:
        """Whether it is a container in the first network namespace of its machine, as its engine saw."""
        return self.enters_container and self.seen_as_namespace is False

    @property
    def loads(self) -> str:
        """Where root may load modules of the kernel, which root of a container may not."""
        return "on its machine" if self.is_namespace or self.enters_container else "there"

    @property
    def enters_namespace(self) -> bool:
        """Whether its launcher, here or behind an ssh, goes into a network namespace, and nowhere else."""
        return any(self.launch[first : first + len(_NETNS)] == _NETNS for first in range(len(self.launch)))

    @property
    def enters_container(self) -> bool:
        """Whether its launcher, here or behind an ssh, goes into a container, and no ssh leads on from it."""
        return bool(self._into_container)

    @property
    def starts_container(self) -> bool:
        """Whether that is a new one each time, with settings as its launcher has them."""
        return self._into_container[-1:] == (_RUN,)

    @property
    def takes_sysctls(self) -> bool:
        """Whether its launcher takes --sysctl for the container that it starts."""
        return (
            self.starts_container
            and Path(self._into_container[0]).name in _WITH_OPTION
            and ("compose" not in self._into_container)
        )

    @property
    def network_of(self) -> str | None:
        """In words, whose network a container gets that its launcher starts; None: one of its own.

        Such a container is refused with options that set what it has from elsewhere.
        """
        if not self.takes_sysctls:
            return None
        first = self._words.index(self._into_container[0])
        after = _options_of_run(self._words[first + len(self._into_container) :])
        joined = [
            value if sign else following
            for word, following in zip(after, (*after[1:], ""), strict=False)
            for option, sign, value in (word.partition("="),)
            if option in _NETWORK_OPTIONS
        ]
        if "host" in joined:
            return f"what `{Path(self._into_container[0]).name}` runs in"
        return "another container" if any(one.startswith("container:") for one in joined) else None

    @property
    def _words(self) -> tuple[str, ...]:
        """The words of its launcher behind its last ssh."""
        words = self.launch
        while (call := ssh_call(words)) is not None:
            words = call.command
        return words

    @property
    def _into_container(self) -> tuple[str, ...]:
        """The words of its launcher from a tool of containers to what that is to do; empty: it has none."""
        words = self._words
        first = next((at for at, word in enumerate(words) if Path(word).name in _OF_CONTAINERS), len(words))
        told = [at for at in range(first + 1, len(words)) if words[at] in _INTO_CONTAINERS]
        told = [at for at in told if words[at - 1] != _NETNS[1]]
        # What follows an option may be its value, as in `kubectl -n run exec`.
        sure = [at for at in told if not _may_take_next(words[at - 1])]
        return words[first : (sure or told)[0] + 1] if told else ()


def _may_take_next(word: str) -> bool:
    """Whether a word in front of another may be an option, and that its value."""
    return word.startswith("-") and "=" not in word and word not in _WITHOUT_VALUE


def _options_of_run(words: Sequence[str]) -> Sequence[str]:
    """Those of the words behind `run` that stand before the image: what follows it is for what runs there."""
    may_be_value = False
    for at, word in enumerate(words):
        if word == "--" or not (word.startswith("-") or may_be_value):
            return words[:at]
        may_be_value = word.startswith("-") and "=" not in word and _FLAGS_OF_RUN.fullmatch(word) is None
    return words


def names_of(places: Mapping[str, Place]) -> dict[str, str]:
    """Say what sentences call hosts: as a person does where that tells them apart, else as plans do.

    In one line, as sentences are comments of files, too.
    """
    names = {host: printable(" ".join(place.name.split())) for host, place in places.items()}
    return names if len({*names.values()}) == len(names) else {host: host for host in names}
