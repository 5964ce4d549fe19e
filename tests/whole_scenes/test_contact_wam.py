"""The arm's fingertip on the table: penetration, force against Pinocchio, impacts, lifting."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from tests.places import WAM

pin = pytest.importorskip("pinocchio")

POINT = np.array([-0.045, -0.35, 0.0])  # of the fingertip's centre in the forearm
DAMPING = np.array([1.0, 1.0, 0.5, 0.5])
SLED = 1e-5  # [kg] see Peer


class Peer:
    """The same arm in Pinocchio, held on the table by a constraint of its own kind.

    Pinocchio knows a point contact in three directions; a light sled that slides in the table's plane leaves
    the normal one.  The force that drags the sled along is given to it in a second pass, so it costs nothing.
    """

    def __init__(self, model: hs.Model) -> None:
        self.model = pin.Model()
        self.model.gravity = pin.Motion(model.gravity_W, np.zeros(3))
        joints = {"world": 0}
        for body, joint in zip(model.bodies, model.joints, strict=True):
            place = pin.SE3(joint.X_PJ.rotation, joint.X_PJ.translation)
            turn = pin.JointModelRevoluteUnaligned(joint.axis_J)
            joints[body.name] = self.model.addJoint(joints[joint.parent], turn, place, joint.name)
            inertia = pin.Inertia(body.mass, body.com_B, body.inertia_com_B)
            self.model.appendBodyToJoint(joints[body.name], inertia, pin.SE3.Identity())
        self.arm = joints["forearm"]
        slide = self.model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
        self.sled = self.model.addJoint(slide, pin.JointModelPY(), pin.SE3.Identity(), "y")
        mass = pin.Inertia(SLED, np.zeros(3), np.zeros((3, 3)))
        self.model.appendBodyToJoint(self.sled, mass, pin.SE3.Identity())
        self.model.armature = np.zeros(self.model.nv)
        self.data = self.model.createData()

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """(3, 4) of the fingertip's centre, world axes."""
        full = np.append(q, [0.0, 0.0])
        pin.computeJointJacobians(self.model, self.data, full)
        J = pin.getJointJacobian(self.model, self.data, self.arm, pin.LOCAL_WORLD_ALIGNED)[:, :4]
        arm = self.data.oMi[self.arm].rotation @ POINT
        return J[:3] - pin.skew(arm) @ J[3:]

    def contact_force(self, q: np.ndarray, u: np.ndarray, force: np.ndarray) -> float:
        """Force of the table [N]; the arm's weight carried, its joints damped, a force at the fingertip."""
        model, data = self.model, self.data
        J = self.jacobian(q)
        tip = data.oMi[self.arm].act(POINT)
        q6, u6 = np.append(q, tip[:2]), np.append(u, J[:2] @ u)
        carried = pin.computeGeneralizedGravity(model, data, q6)[:4]
        tau = np.append(carried - DAMPING * u + J.T @ force, [0.0, 0.0])
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model,
            self.arm, pin.SE3(np.eye(3), POINT),
            self.sled, pin.SE3(np.eye(3), np.array([0.0, 0.0, tip[2]])),
            pin.ReferenceFrame.LOCAL,
        )  # fmt: skip
        contacts, results = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        contacts.append(contact)
        results.append(contact.createData())
        pin.initConstraintDynamics(model, data, contacts, results)
        settings = pin.ProximalSettings(1e-12, 1e-12, 1e-8, 20)
        for _ in range(2):
            udot = pin.constraintDynamics(model, data, q6, u6, tau, contacts, results, settings)
            tau[4:] = SLED * udot[4:]
        return float((data.oMi[self.arm].rotation @ results[0].contact_force.linear)[2])


def drag(sim: hs.Simulation, t: float) -> np.ndarray:
    """Force at the fingertip [N]: down by 2.5 to 5.5 N, and a spring that draws it along a figure."""
    pose = sim.body_pose("forearm")
    tip = pose.rotation @ POINT + pose.translation
    x, y = 60.0 * (np.array([0.55 + 0.1 * np.sin(1.3 * t), 0.12 * np.sin(0.9 * t)]) - tip[:2])
    return np.array([x, y, -4.0 - 1.5 * np.sin(5.0 * t)])


def test_pressed_and_dragged_for_ten_seconds_it_neither_sinks_in_nor_disagrees_with_pinocchio():
    """Deepest 2e-15 m, largest difference 2.2e-10 N when this was written."""
    sim = hs.Simulation(hs.load(WAM))
    peer = Peer(sim.scene.model)
    deepest, largest, compared, touched, path = 0.0, 0.0, 0, False, 0.0
    for tick in range(10_000):
        force = drag(sim, 1e-3 * tick)
        sim.apply(force=force)
        sim.step()
        deepest = min(deepest, sim.gaps[0])
        if touched and tick % 40 == 0:
            state = sim.state
            (contact,) = state.contacts
            theirs = peer.contact_force(state.q, state.u, force)
            largest = max(largest, abs(contact.force - theirs))
            path += np.linalg.norm(peer.jacobian(state.q) @ state.u) * 0.04
            compared += 1
            np.testing.assert_allclose(contact.normal, [0, 0, 1], atol=1e-15)
            assert contact.point[2] == pytest.approx(0.30, abs=1e-12)
        touched = touched or any(e.kind is Event.TOUCH for e in sim.events)
    assert compared > 200 and path > 0.5, "it must have been dragged about"
    assert deepest > -1e-9, deepest
    assert largest < 1e-7, largest


def falling(height_force: float = -5.0) -> hs.Simulation:
    sim = hs.Simulation(hs.load(WAM))
    sim.apply(force=np.array([0.5, 0.3, height_force]))
    return sim


def until(sim: hs.Simulation, kind: Event, ticks: int = 2000):
    """Step until an event of this kind; return it with q and u from before the tick."""
    for _ in range(ticks):
        before = sim.state
        sim.step()
        for event in sim.events:
            if event.kind is kind:
                return event, before
    raise AssertionError(f"no {kind.name} within {ticks} ticks")


def test_an_impact_takes_the_kinetic_energy_it_says_it_takes():
    sim = falling()
    event, before = until(sim, Event.TOUCH)
    # the same tick without a table, up to the instant of the impact
    free = hs.Simulation(hs.load(WAM))
    free.set_state(before.q, before.u)
    eq, h = free.assembly.equations, (event.time - before.time) / 50
    q, u, force = before.q.copy(), before.u.copy(), np.array([0.5, 0.3, -5.0])
    peer, gravity = Peer(sim.scene.model), np.zeros(4)
    eq.kernels.gravity_force(before.q, gravity)  # the torque law is held for the tick

    def rate(q, u):
        return u, eq.forward_dynamics(q, u, gravity - DAMPING * u + peer.jacobian(q).T @ force)

    for _ in range(50):
        k1 = rate(q, u)
        k2 = rate(q + h / 2 * k1[0], u + h / 2 * k1[1])
        k3 = rate(q + h / 2 * k2[0], u + h / 2 * k2[1])
        k4 = rate(q + h * k3[0], u + h * k3[1])
        q = q + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        u = u + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    M, n = eq.mass_matrix(q), peer.jacobian(q)[2]
    after = u - np.linalg.solve(M, n) * (n @ u) / (n @ np.linalg.solve(M, n))
    lost = 0.5 * u @ M @ u - 0.5 * after @ M @ after
    assert lost > 1e-4
    assert event.value == pytest.approx(lost, rel=1e-7)
    assert abs(n @ after) < 1e-14


def test_lifting_deletes_the_contact_in_the_tick_in_which_the_force_turns_tensile():
    """The lift grows by 1 mN a tick; the contact's force at every state says whether it still holds."""
    sim = falling(-3.0)
    until(sim, Event.TOUCH)
    sim.step(500)
    lifted = -3.0
    for _ in range(6000):
        lifted += 1e-3
        sim.apply(force=np.array([0.0, 0.0, lifted]))
        (foretold,) = sim.state.contacts  # the force at the present state under the new input
        sim.step()
        left = [e for e in sim.events if e.kind is Event.LEAVE]
        assert bool(left) == (not sim.state.contacts)
        if left:
            assert foretold.force < 2e-3, "held until now, not longer"
            break
        assert foretold.force > -1e-9, "a pulling contact must not survive its tick"
    else:
        raise AssertionError("it never left the table")
    gap = sim.gaps[0]
    sim.apply(force=np.array([0.0, 0.0, lifted + 1.0]))
    sim.step(20)
    assert not sim.state.contacts and sim.gaps[0] > gap


def test_energy_only_falls_without_external_work():
    """The arm falls onto the table and slides along it; the torque law that would carry it is taken back."""
    sim = hs.Simulation(hs.load(WAM))
    weight, before, rise, pressed = np.zeros(4), sum(sim.energy()), -np.inf, 0.0
    for _ in range(1000):
        sim.assembly.equations.kernels.gravity_force(sim.state.q, weight)
        sim.apply(torque=-weight)
        sim.step()
        after = sum(sim.energy())
        rise, before = max(rise, after - before), after
        pressed = max(pressed, *(c.force for c in sim.state.contacts), 0.0)
    assert pressed > 5.0
    assert rise < 1e-12


def test_the_touch_is_found_wherever_in_a_tick_it_falls():
    """The same fall at rates that put the touch anywhere in a tick ends in the same state."""
    ends = []
    for rate in (997.0, 1000.0, 1013.0, 4000.0):
        sim = hs.Simulation(dataclasses.replace(hs.load(WAM), rate_Hz=rate))
        sim.apply(force=np.array([0.0, 0.0, -5.0]))
        event, _ = until(sim, Event.TOUCH)
        ends.append((event.time, event.value))
    times, lost = np.array(ends).T
    np.testing.assert_allclose(times, times[-1], rtol=0, atol=2e-4)  # held torques differ with the rate
    np.testing.assert_allclose(lost, lost[-1], rtol=2e-3)
