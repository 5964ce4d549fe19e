"""A server that only publishes: a WAM-like arm that strokes a table, its ghost, and plausible statistics.

Run it by hand to look at the window: ``python -m tests.display_fake ENDPOINT [--seconds S] [--predict]``,
or measure it: ``python -m tests.display_fake ENDPOINT --time``.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from typing import Any

import numpy as np

from hapticsim.codes import Fault, Safety
from hapticsim.wire.publisher import Publisher

BODIES = ["shoulder", "upper_arm", "forearm", "tip"]
UPPER_M, FORE_M, TIP_RADIUS_M, TABLE_TOP_M = 0.55, 0.45, 0.035, 0.02
TABLE_COLOR = (188, 152, 108)
FORCE_LIMIT_N = 12.0
TORQUE_LIMIT_NM = 0.2
RATE_HZ = 1000.0
TABLE_CENTRE = np.array([0.62, 0.0, TABLE_TOP_M - 0.03])


def about(axis: int, angle: float) -> np.ndarray:
    """(4,) quaternion w, x, y, z of a turn about a coordinate axis."""
    q = np.zeros(4)
    q[0], q[1 + axis] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return q


def scene(**changes: Any) -> dict[str, Any]:
    """Payload of topic ``scene``."""
    arm, wrist = [96, 140, 190], [210, 216, 224]

    def shape(
        name: str, body: int, kind: str, size: list[float], p: list[float], color: Any
    ) -> dict[str, Any]:
        pose = [p, [1.0, 0.0, 0.0, 0.0]]
        return {"name": name, "body": body, "kind": kind, "size": size, "pose": pose, "color": list(color)}

    payload: dict[str, Any] = {
        "name": "wam_table",
        "bodies": BODIES,
        "links": [[-1, 0], [0, 1], [1, 2], [2, 3]],
        "shapes": [
            shape("table", -1, "box", [0.34, 0.30, 0.03], TABLE_CENTRE.tolist(), TABLE_COLOR),
            shape("wall", -1, "box", [0.02, 0.30, 0.08], [0.94, 0.0, 0.10], (150, 166, 140)),
            shape("base", -1, "capsule", [0.09, 0.14], [0.0, 0.0, 0.15], wrist),
            shape("shoulder", 0, "sphere", [0.085], [0.0, 0.0, 0.0], wrist),
            shape("upper_arm", 1, "capsule", [0.055, UPPER_M], [0.0, 0.0, 0.5 * UPPER_M], arm),
            shape("elbow", 2, "sphere", [0.06], [0.0, 0.0, 0.0], wrist),
            shape("forearm", 2, "capsule", [0.028, FORE_M], [0.0, 0.0, 0.5 * FORE_M], arm),
            shape("tip", 3, "sphere", [TIP_RADIUS_M], [0.0, 0.0, 0.0], (230, 120, 90)),
        ],
        "mapping": {
            "origin": [0.6, 0.0, 0.12],
            "rotation": np.eye(3).ravel().tolist(),
            "motion_scale": 3.0,
            "force_scale": 1.0,
        },
        "handle": {"body": 3, "point": [0.0, 0.0, 0.0]},
        "limits": {"force_N": FORCE_LIMIT_N, "workspace_radius_m": 0.08},
        "rate_Hz": RATE_HZ,
        "role": "server",
    }
    return payload | changes


def arm_poses(tip: np.ndarray) -> list[float]:
    """Flat poses of the four bodies for a tip position (3,) [m]: two links in a plane, elbow up."""
    shoulder = np.array([0.0, 0.0, 0.32])
    reach = tip - shoulder
    turn = math.atan2(reach[1], reach[0])
    r, z = math.hypot(reach[0], reach[1]), reach[2]
    distance = min(math.hypot(r, z), UPPER_M + FORE_M - 1e-6)
    inner = math.acos((UPPER_M**2 + distance**2 - FORE_M**2) / (2 * UPPER_M * distance))
    lean = 0.5 * math.pi - (math.atan2(z, r) + inner)  # of the upper arm from the vertical
    bend = math.acos((distance**2 - UPPER_M**2 - FORE_M**2) / (2 * UPPER_M * FORE_M))

    def pose(p: np.ndarray, angle: float) -> list[float]:
        a, b = about(2, turn), about(1, angle)  # turn about z, then lean about y
        q = [a[0] * b[0], -a[3] * b[2], a[0] * b[2], a[3] * b[0]]
        return [*p.tolist(), *q]

    heading = np.array([math.cos(turn), math.sin(turn), 0.0])
    elbow = shoulder + UPPER_M * (math.sin(lean) * heading + math.cos(lean) * np.array([0.0, 0.0, 1.0]))
    return [
        *pose(shoulder, 0.0),
        *pose(shoulder, lean),
        *pose(elbow, lean + bend),
        *pose(tip, 0.0),
    ]


def tip_at(time_s: float) -> np.ndarray:
    """(3,) [m] a stroke over the table that lifts off now and then."""
    height = TABLE_TOP_M + TIP_RADIUS_M + 0.06 * max(0.0, math.sin(0.9 * time_s - 0.6))
    return np.array([0.6 + 0.14 * math.sin(0.7 * time_s), -0.08 + 0.1 * math.cos(0.5 * time_s), height])


def state(
    time_s: float, mode: Safety = Safety.ARMED, fault: Fault = Fault.NONE, **changes: Any
) -> dict[str, Any]:
    """Payload of topic ``state``."""
    tip = tip_at(time_s)
    touching = tip[2] < TABLE_TOP_M + TIP_RADIUS_M + 1e-9
    anchor = tip + (np.array([0.025, -0.01, -0.06]) if touching else np.array([0.02, 0.01, 0.02]))
    force = 90.0 * (anchor - tip)
    position = (anchor - np.array([0.6, 0.0, 0.12])) / 3.0
    contact = {
        "a": "tip",
        "b": "table",
        "point": [tip[0], tip[1], TABLE_TOP_M],
        "normal": [0.0, 0.0, 1.0],
        "force_N": 5.4,
        "gap_m": 0.0,
    }
    payload: dict[str, Any] = {
        "tick": int(RATE_HZ * time_s),
        "time_s": time_s,
        "mode": int(mode),
        "fault": int(fault),
        "q": [0.0] * 4,
        "u": [0.0] * 4,
        "bodies": [float(x) for x in arm_poses(tip)],
        "contacts": [contact] if touching else [],
        "stops": [{"joint": "elbow", "side": "upper", "force": 0.42, "unit": "N m"}] if touching else [],
        "device": {
            "connected": True,
            "position": position.tolist(),
            "target": (position + np.array([0.006, 0.0, -0.012])).tolist(),
            "force_N": (-force).tolist() if mode == Safety.ARMED else [0.0, 0.0, 0.0],
        },
        "coupler": {"anchor_W": anchor.tolist(), "handle_W": tip.tolist(), "force_W": force.tolist()},
        "energy_J": [0.012, 3.41],
    }
    return payload | changes


def turning_scene(rotation: str = "full") -> dict[str, Any]:
    """Payload of topic ``scene`` where the coupler turns."""
    limits = {"force_N": FORCE_LIMIT_N, "torque_Nm": TORQUE_LIMIT_NM, "workspace_radius_m": 0.08}
    return scene(coupler={"rotation": rotation}, limits=limits)


def turning_state(time_s: float, device: float, handle: float, torque_z_Nm: float) -> dict[str, Any]:
    """Payload of topic ``state`` with device and handle turned about z [rad] since they were coupled."""
    payload = state(time_s)
    seated = about(0, 0.5)  # the handle's body in the world when it was coupled
    turned = about(2, device)
    payload["device"] |= {"quaternion": turned.tolist(), "torque_Nm": [0.0, 0.0, torque_z_Nm]}
    payload["coupler"] |= {
        "torque_W": [0.0, 0.0, -torque_z_Nm],
        "anchor_quaternion_W": product(turned, seated).tolist(),
        "handle_quaternion_W": product(about(2, handle), seated).tolist(),
    }
    return payload


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(4,) quaternion of the turn b and then a."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([scalar, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def predicted(time_s: float, delay_s: float = 0.6) -> dict[str, Any]:
    """Payload of topic ``predicted``: the arm a delay later than the last confirmed one."""
    path = [tip_at(time_s + delay_s * part).tolist() for part in np.linspace(0.0, 1.0, 13)]
    return {
        "time_s": time_s + delay_s,
        "age_s": delay_s,
        "error_m": 0.0021,
        "q": [0.0] * 4,
        "bodies": [float(x) for x in arm_poses(tip_at(time_s + delay_s))],
        "path": path,
        "confirmed": {"time_s": time_s, "bodies": [float(x) for x in arm_poses(tip_at(time_s))]},
    }


def stats(ticks: int = 84210) -> dict[str, Any]:
    """Payload of topic ``stats``."""
    return {
        "ticks": ticks,
        "missed": 0,
        "lateness_us": {"p50": 0.2, "p99": 3.1, "p999": 21.0, "max": 84.0},
        "execution_us": {"p50": 6.4, "p99": 9.8, "p999": 14.0, "max": 61.0},
        "round_trip_us": {"p50": 182.0, "p99": 410.0},
        "scheduling": "SCHED_FIFO 80, memory locked",
        "recorder": "off",
        "dropped": {"stale": 0},
    }


def publish_for(publisher: Publisher, seconds: float, predict: bool, mode: Safety = Safety.ARMED) -> None:
    """Publish at the server's rates until the time is over."""
    begun = time.monotonic()
    count = 0
    while (now := time.monotonic() - begun) < seconds:
        if count % 100 == 0:
            publisher.offer("scene", scene())
            publisher.offer("stats", stats(int(1000 * now)))
        if count == 40:
            publisher.offer(
                "events", {"tick": 1, "time_s": now, "kind": "TOUCH", "text": "tip touches table"}
            )
        publisher.offer("state", state(now + 3.0, mode))
        if predict:
            publisher.offer("predicted", predicted(now + 3.0))
        count += 1
        time.sleep(0.005)


def time_frames(endpoint: str, count: int = 300) -> None:
    """Print how long the window takes to draw this scene with its ghost, without showing it."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    from hapticsim.display.window import Window

    with Publisher(endpoint) as server:
        window = Window(endpoint, f"{endpoint}-pointer")
        while window.feed.predicted is None or window.feed.scene is None:
            for topic, payload in (("scene", scene()), ("state", state(4.2)), ("predicted", predicted(4.2))):
                server.offer(topic, payload)
            server.offer("stats", stats())
            time.sleep(0.01)
            window.feed.poll()
        window.take_scene()
        for detail in (2, 1):
            window.pace.detail = detail
            took_ms = []
            for k in range(count):
                server.offer("state", state(4.2 + 0.02 * k))
                server.offer("predicted", predicted(4.2 + 0.02 * k))
                begun = time.perf_counter()
                window.feed.poll()
                window.draw()
                took_ms.append(1e3 * (time.perf_counter() - begun))
            middle, most = np.percentile(took_ms, [50, 95])
            print(f"detail {detail}: {middle:.1f} ms per frame, 95 % below {most:.1f} ms, {count} frames")
        window.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--predict", action="store_true", help="publish a prediction too")
    parser.add_argument("--time", action="store_true", help="measure drawing instead of publishing")
    arguments = parser.parse_args()
    if arguments.time:
        time_frames(arguments.endpoint)
    else:
        with Publisher(arguments.endpoint) as server:
            publish_for(server, arguments.seconds, arguments.predict)
