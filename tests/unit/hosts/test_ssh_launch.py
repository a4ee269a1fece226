"""Commands behind launchers: shells of ssh take them apart once more for each ssh."""

import shlex

import pytest

from flowsweep.hosts.of_plan import shares_files
from flowsweep.hosts.ssh import launched


def test_ssh_gets_one_argument_that_the_far_shell_takes_apart_again() -> None:
    assert launched(("ssh", "-p", "22", "far"), ("sh", "-c", 'echo "$HOME"')) == (
        "ssh", "-p", "22", "far", """sh -c 'echo "$HOME"'""",
    )  # fmt: skip


@pytest.mark.parametrize(
    "prefix",
    [
        "ssh far",
        "sshpass -e ssh far",
        "timeout 1h /usr/bin/ssh far",
        "env A=1 ssh -vp22 -o User=x far",
        "sudo -u x ssh far -l ssh",
        "ssh -J ssh far nice",
        "rsh -l x far",
        "sshpass -e rsh far",
    ],
)
def test_ssh_is_known_wherever_it_stands(prefix: str) -> None:
    words = prefix.split()
    assert launched(words, ("echo", "a  b")) == (*words, "echo 'a  b'")
    assert not shares_files(words)


def test_a_command_behind_two_sshs_is_taken_apart_twice() -> None:
    prefix = ("ssh", "gate", "timeout", "1h", "ssh", "far")
    *before, words = launched(prefix, ("echo", "it's  one"))
    assert tuple(before) == prefix
    (once,) = shlex.split(words)
    assert shlex.split(once) == ["echo", "it's  one"]


def test_an_ssh_in_the_command_of_another_is_one() -> None:
    """A shell behind the first takes its command apart, in however many words that is given."""
    prefix = ("ssh", "gate", "timeout 1h ssh far")
    *before, words = launched(prefix, ("echo", "it's  one"))
    assert tuple(before) == prefix
    (once,) = shlex.split(words)
    assert shlex.split(once) == ["echo", "it's  one"]
    assert launched(("ssh", "far", "it's"), ("echo", "a  b")) == ("ssh", "far", "it's", "echo 'a  b'")


@pytest.mark.parametrize("prefix", ["ip netns exec ssh", "kubectl exec -i ssh --", "oc -n lab rsh pod"])
def test_what_only_looks_like_ssh_hands_arguments_over_as_they_are(prefix: str) -> None:
    words = prefix.split()
    assert launched(words, ("echo", "a b")) == (*words, "echo", "a b")
