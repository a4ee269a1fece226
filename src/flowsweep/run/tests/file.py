"""Files, as an engine is asked for them."""

from flowsweep.defaults import FILES_MAX, MICROSECOND_NS, SILENCE_TIMEOUT_NS
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import FileTest, TcpSettings
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, sample_rows, tcp_fields
from flowsweep.schedule.tests.file import FileParameters

_STORAGE_BYTES = 256
"""Of a row as Arrow, rounded up well; of a device's, too."""


def file_settings(parameters: FileParameters, role: EndRole, pad_ns: int) -> FileTest:
    """What one end of a pair of hosts is asked to do, in a folder that `in_folder` names.

    A sink reads nothing while it syncs: the path may be silent for as long.
    """
    silence_ns = max(SILENCE_TIMEOUT_NS, parameters.drain_timeout_ns)
    fields = tcp_fields(parameters, role, pad_ns) | {"silence_timeout_us": silence_ns // MICROSECOND_NS}
    tcp = TcpSettings(
        **fields,
        pacing_rate_bps=parameters.pacing_rate_bps,
        mss_bytes=parameters.mss_bytes,
        mode="copy",
        encryption="none",
    )
    return FileTest(
        tcp=tcp,
        folder="",
        files=parameters.files or FILES_MAX,
        file_bytes=parameters.file_size_bytes or 0,
        existing=parameters.existing if role == "source" else None,
        content=parameters.content,
        part=parameters.part,
        cache=parameters.cache,
        sync=parameters.sync,
        verify=parameters.verify,
        sendfile=parameters.sendfile,
    )


def in_folder(settings: FileTest, access: HostAccess) -> FileTest:
    """Have files made in the folder that the plan names for a host."""
    return settings.model_copy(update={"folder": access.folder or ""})


def file_table_bytes(parameters: FileParameters, run_s: float, _: int) -> float:
    """What samples take, those of storage and those of the device."""
    rows = sample_rows(parameters, run_s)
    return rows * (SAMPLE_BYTES + _STORAGE_BYTES) + rows * _STORAGE_BYTES
