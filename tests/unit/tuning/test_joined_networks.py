"""How to set what is advised where a container is started with the network of something else."""

import pytest

from flowsweep.tuning.advise import SystemSetting, how_to_set
from flowsweep.tuning.places import Means, Place

SETTING = SystemSetting("a", "net.ipv4.tcp_rmem", "4096 131072 2097152", "4096 131072 500000", "Computed.")
DOCKER, OTHER = "what `docker` runs in", "another container"


@pytest.mark.parametrize(
    ("launch", "whose"),
    [
        ("docker run -i --network host image", DOCKER),
        ("docker run --network=host -i image", DOCKER),
        ("docker run --net host -i image", DOCKER),
        ("ssh far docker run --net=host -i image", DOCKER),
        ("docker run -i --network container:box image", OTHER),
        ("docker run -i --net=container:box image", OTHER),
        ("docker run --rm -e A=B -it --network host image", DOCKER),
        ("docker run --unknown image --network host", DOCKER),
        ("docker run -v /a:/b --unknown --network host -- image", DOCKER),
    ],
)
def test_no_option_sets_what_a_container_has_from_elsewhere(launch: str, whose: str) -> None:
    """The network of a machine has a file: here it is seen as a namespace, as of docker in a container."""
    place = Place("box", tuple(launch.split()), seen_as_namespace=True)
    (one,) = how_to_set([SETTING], {"a": place})
    assert one.place.means is Means.commands_elsewhere
    assert one.how.startswith(
        f"reached by `{launch}`, which starts a container with the network of {whose}: these settings are "
        "those of that, and no option sets them. Run this there as root; "
    )
    assert one.text.splitlines()[-1] == "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 2097152'"


@pytest.mark.parametrize("network", ["bridge", "none", "host-like", "mine"])
def test_a_network_of_its_own_is_set_by_options(network: str) -> None:
    place = Place("box", ("docker", "run", "-i", "--network", network, "image"), seen_as_namespace=True)
    assert place.means is Means.run_options


@pytest.mark.parametrize("options", ["", "-i", "--rm -it -e A=B", "--name=box --init", "-i --"])
def test_what_follows_the_image_is_no_option_of_its_start(options: str) -> None:
    launch = ("docker", "run", *options.split(), "image", "--network", "host")
    place = Place("box", launch, seen_as_namespace=True)
    assert (place.means, place.network_of) == (Means.run_options, None)
