"""Which slots run at the same time: none that share a host, or a named link that has no place left."""

from flowsweep.schedule.packing.batches import Batch, Batches
from flowsweep.schedule.packing.needs import ONE_AT_A_TIME, Need, Sharing, sharing_of
from flowsweep.schedule.packing.order import in_packed_order
from flowsweep.schedule.packing.rule import Job, Packing, jobs_of
from flowsweep.schedule.packing.simulated import Packed, packed

__all__ = [
    "ONE_AT_A_TIME",
    "Batch",
    "Batches",
    "Job",
    "Need",
    "Packed",
    "Packing",
    "Sharing",
    "in_packed_order",
    "jobs_of",
    "packed",
    "sharing_of",
]
