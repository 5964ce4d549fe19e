"""The device road between two processes, and what its device side costs to import."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from hapticsim.wire.device.link import DeviceLink
from tests.raw_device import HELLO, ZERO, wait_for

ECHO = """
import sys, time
from hapticsim.wire.device.port import DevicePort, Terms
with DevicePort(sys.argv[1], Terms(1000.0, 0.01, 8.0, 2000.0)) as port:
    print("bound", flush=True)
    while True:
        news = port.poll(0.5)
        if news.state:
            port.send_force(news.state.position_m, 2)
        if news.left:
            break
    print(port.received, port.missing, sum(port.dropped.values()), flush=True)
"""


def test_two_processes_exchange_without_loss(tmp_path):
    endpoint = f"ipc://{tmp_path}/device.sock"
    server = subprocess.Popen([sys.executable, "-c", ECHO, endpoint], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "bound\n"
        with DeviceLink(endpoint, replace(HELLO)) as link:
            link.connect(timeout_s=5.0)
            for i in range(300):
                assert link.send_state((i * 1e-4, 0.0, 0.0), ZERO)
                wait_for(lambda i=i: (f := link.newest_force()) is not None and f.force_N[0] == i * 1e-4)
            assert link.missing == 0 and not link.dropped
            assert link.round_trip.percentile_us(50) < 20_000
        assert server.stdout.readline() == "302 0 0\n"  # hello, 300 states, bye
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def test_importing_the_device_side_costs_neither_numpy_nor_a_compiler():
    code = (
        "import sys, hapticsim.wire.device.link, hapticsim.wire.subscriber\n"
        "print({'numpy', 'numba', 'asyncio'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
