"""The tests whose goodput is predicted, one row a test; others send for no goodput."""

from collections.abc import Mapping

from flowsweep.prediction.tests import quic, tcp, udp
from flowsweep.prediction.tests.row import PredictedTest

PREDICTED_TESTS: Mapping[str, PredictedTest] = {"tcp": tcp.ROW, "udp": udp.ROW, "quic": quic.ROW}
