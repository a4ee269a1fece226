"""The tests as schedules know them, one row a test: parameters, and how sweeps become points."""

from collections.abc import Mapping

from flowsweep.schedule.tests import file, mptcp, quic, tcp, udp
from flowsweep.schedule.tests.path import PathParameters, path_points, path_remarks
from flowsweep.schedule.tests.row import ScheduleTest
from flowsweep.schedule.tests.rtt import RttParameters, rtt_points
from flowsweep.tests import rows_of_packages

SCHEDULE_TESTS: Mapping[str, ScheduleTest] = {
    "tcp": ScheduleTest(tcp.TcpParameters, tcp.tcp_points, tcp.tcp_remarks, tcp.BACKGROUND),
    "udp": ScheduleTest(udp.UdpParameters, udp.udp_points, udp.udp_remarks, udp.BACKGROUND),
    "rtt": ScheduleTest(RttParameters, rtt_points),
    "path": ScheduleTest(PathParameters, path_points, path_remarks),
    "quic": ScheduleTest(quic.QuicParameters, quic.quic_points, background=quic.BACKGROUND),
    "mptcp": ScheduleTest(mptcp.MptcpParameters, mptcp.mptcp_points, background=mptcp.BACKGROUND),
    "file": ScheduleTest(file.FileParameters, file.file_points),
    **rows_of_packages("schedule"),
}
