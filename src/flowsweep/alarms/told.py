"""What an archive's ledger says without its alarms: whether somebody knows of a begin, and of no end."""

from pathlib import Path

from flowsweep.alarms.delivery.ledger import read_deliveries
from flowsweep.archive.campaign import open_folder
from flowsweep.errors import FlowsweepError


def is_end_untold(archive: Path) -> bool:
    """Whether a begin was delivered, and not the end of the same; False where that cannot be read."""
    try:
        deliveries = read_deliveries(open_folder(archive))
    except (FlowsweepError, OSError):
        return False
    told = {way for way, delivery in deliveries.of.items() if delivery.delivered}
    begun = ((key.removesuffix("-begin"), target) for key, target in told if key.endswith("-begin"))
    return any((f"{name}-end", target) not in told for name, target in begun)
