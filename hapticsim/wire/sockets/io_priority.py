"""Priority of the threads that move bytes between sockets and queues.

They belong to ZeroMQ and start with the first socket of a process.  At ordinary priority they wait behind
every other program of a busy computer, and a device falls silent between two threads that are punctual.
"""

from __future__ import annotations

import os
import threading

import zmq


def raise_io_priority(priority: int) -> bool:
    """Have the process-wide context run its threads at SCHED_FIFO; False where that is not permitted.

    Call it before the first socket: later it changes nothing.
    """
    if not hasattr(os, "sched_setscheduler"):
        return False
    me = threading.get_native_id()
    before = os.sched_getscheduler(me), os.sched_getparam(me)
    try:  # asked here first, because ZeroMQ ends the process when it is refused
        os.sched_setscheduler(me, os.SCHED_FIFO, os.sched_param(priority))
        os.sched_setscheduler(me, *before)
    except OSError:
        return False
    context: zmq.Context = zmq.Context.instance()
    context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_FIFO)
    context.set(zmq.THREAD_PRIORITY, priority)
    return True
