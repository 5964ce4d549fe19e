"""The device road: handshake, newest wins, one device at a time, floods and silence."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import msgpack
import pytest

from hapticsim.codes import DeviceFlag, Safety
from hapticsim.errors import WireError
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.device.port import MAX_STRANGERS, DevicePort
from hapticsim.wire.messages.codec import encode
from hapticsim.wire.messages.device import Arm, Bye, Reject, Welcome
from tests.raw_device import HELLO, STATE, TERMS, ZERO, RawDevice, gather, join, wait_for


@pytest.fixture
def port(tmp_path):
    with DevicePort(f"ipc://{tmp_path}/device.sock", TERMS, replace_after_s=0.2) as port:
        yield port


@pytest.fixture
def link(port):
    with DeviceLink(port.endpoint, replace(HELLO), retry_s=0.05) as link:
        yield link


@pytest.fixture
def raw(port):
    device = RawDevice(port.endpoint)
    yield device
    device.socket.close()


# ------------------------------------------------------------------------------------------------ a session


def test_a_device_is_welcomed_with_the_terms_and_described_to_the_server(link, port):
    welcome = join(link, port)
    assert (welcome.rate_Hz, welcome.timeout_s, welcome.force_limit_N, welcome.slew_limit_N_per_s) == (
        1000.0,
        0.01,
        8.0,
        2000.0,
    )
    assert port.device.name == "bench" and port.device.max_force_N == 12.0
    assert welcome.session == port.session != 0


def test_states_go_up_and_forces_come_down(link, port):
    join(link, port)
    assert link.newest_force() is None and link.force_age_s() == math.inf
    assert link.send_state([0.01, 0.02, 0.03], [0.1, 0.0, 0.0], target_m=[0, 0, 1], buttons=1)
    news = gather(port, until=lambda news: news.state)
    assert news.state.position_m == (0.01, 0.02, 0.03)
    assert news.state.target_m == (0.0, 0.0, 1.0)
    assert port.send_force((0.0, 0.0, 1.5), Safety.ARMED)
    wait_for(lambda: link.newest_force() is not None)
    assert link.newest_force().force_N == (0.0, 0.0, 1.5)
    assert link.newest_force().mode == Safety.ARMED
    assert link.force_age_s() < 0.5
    assert link.round_trip.percentile_us(50) > 0.0


def test_the_newest_state_of_several_is_reported_and_the_request_among_them_is_kept(link, port):
    join(link, port)
    link.send_state((0.001, 0, 0), ZERO)
    link.arm()
    link.send_state((0.002, 0, 0), ZERO)
    time.sleep(0.05)
    news = port.poll()
    assert news.arm
    assert news.state.position_m[0] == 0.002


def test_disarm_takes_an_arm_of_the_same_call_back(link, port):
    join(link, port)
    link.arm()
    link.disarm()
    time.sleep(0.05)
    news = port.poll()
    assert (news.arm, news.disarm) == (False, True)


def test_bye_ends_the_session_on_both_ends(link, port):
    join(link, port)
    link.bye("going home.")
    assert gather(port, until=lambda news: news.left).left == "the device left: going home."
    assert port.device is None and not port.send_force(ZERO, 0)
    assert link.welcome is None and not link.send_state(ZERO, ZERO) and not link.arm()


def test_a_server_that_stops_says_so(link, port):
    join(link, port)
    port.send_force((1.0, 0.0, 0.0), Safety.ARMED)
    wait_for(lambda: link.newest_force() is not None)
    port.end_session("maintenance.")
    wait_for(lambda: link.newest_force() is None)
    assert link.welcome is None and link.force_age_s() == math.inf
    assert link.ended == "the server left: maintenance."


def test_a_device_without_a_server_waits_no_longer_than_asked(tmp_path):
    endpoint = f"ipc://{tmp_path}/nobody.sock"
    started = time.monotonic()
    with DeviceLink(endpoint, replace(HELLO)) as link, pytest.raises(WireError) as refused:
        link.connect(timeout_s=0.1)
    assert time.monotonic() - started < 1.0
    assert str(refused.value) == f"{endpoint}: no server answered in 0.1 s: start one with 'hapticsim run'."


def test_a_device_finds_the_server_that_takes_the_place_of_the_first(link, port):
    first = join(link, port).session
    port.send_force((1.0, 0.0, 0.0), 2)
    wait_for(lambda: link.newest_force() is not None)
    endpoint = port.endpoint
    link.lost_after_s = 0.1
    port._bound.close()  # as if killed: no bye
    with DevicePort(endpoint, TERMS) as second:
        assert join(link, second, seconds=5.0).session != first
        assert link.newest_force() is None, "a force of the former session survived"


def test_hellos_that_cross_the_answer_lead_both_ends_to_one_session(link, port):
    for _ in range(3):  # the server is slow: three hellos wait
        link._last_hello_s = -math.inf
        link.try_connect()
        time.sleep(0.02)
    join(link, port)
    wait_for(lambda: link.newest_force() is None and link.welcome.session == port.session)
    link.send_state(ZERO, ZERO)
    assert gather(port, until=lambda news: news.state).state is not None


def test_hellos_that_queued_while_the_server_was_busy_lead_to_one_session(link, port):
    give_up = time.monotonic() + 1.2
    while time.monotonic() < give_up:  # hellos queue up, and nobody answers
        assert link.try_connect() is None
        time.sleep(0.01)
    news = port.poll(0.1)
    assert news.joined is not None and port.received > 5
    session = port.session
    join(link, port)
    for _ in range(20):
        link.send_state((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        port.poll(0.01)
        port.send_force((1.0, 0.0, 0.0), 2)
    wait_for(lambda: link.newest_force() is not None)
    assert port.session == session and not port.dropped and not link.dropped


def test_a_welcome_to_a_hello_of_long_ago_changes_nothing(link, port):
    session = join(link, port).session
    port._send(port._peer, Welcome(1.0, 1.0, 1.0, 1.0), session=session + 1, echo_ns=1)
    wait_for(lambda: link.newest_force() is None and link.dropped)
    assert link.dropped == {"stale": 1}
    assert link.welcome.session == session and link.welcome.rate_Hz == 1000.0


# ----------------------------------------------------------------------------------------- one at a time


def test_a_repeated_welcome_leaves_the_session_as_it_is(link, port):
    welcome = join(link, port)
    link.send_state((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    gather(port, until=lambda news: news.state)
    port.send_force((0.0, 0.0, 3.0), 2)
    give_up = time.monotonic() + 1.0
    while link.newest_force() is None and time.monotonic() < give_up:
        time.sleep(0.001)
    port._send(port._peer, port._welcome(port.device), port.session)
    port.send_force((0.0, 0.0, 4.0), 2)
    while link.newest_force().force_N[2] < 4.0 and time.monotonic() < give_up:
        assert link.force_age_s() < math.inf  # a new session would have forgotten it
        time.sleep(0.001)
    assert link.newest_force().force_N[2] == 4.0 and link.welcome is welcome


def test_a_second_device_is_rejected_while_the_first_is_heard(link, port, raw):
    join(link, port)
    link.send_state(ZERO, ZERO)
    raw.send(HELLO, stamp_ns=77)
    reject = raw.receive(port, Reject, seconds=0.15)
    assert reject.reason == "'bench' is connected already: end it first."
    assert reject.echo_ns == 77
    raw.send(STATE, session=port.session)
    assert gather(port, 0.05).joined is None
    assert port.dropped["stranger"] == 2


def test_a_rejected_link_raises_the_servers_sentence(link, port, raw):
    raw.join(port)
    raw.send(STATE, session=port.session)
    port.replace_after_s = 10.0
    with pytest.raises(WireError, match="'bench' is connected already"):
        join(link, port)


def test_a_device_that_went_silent_is_replaced_by_the_next(link, port, raw):
    join(link, port)
    time.sleep(0.25)
    assert raw.join(port) == port.session
    link.send_state(ZERO, ZERO)
    gather(port, 0.05)
    assert port.dropped["stranger"] == 1


def test_a_device_whose_connection_was_closed_comes_back_at_once_under_another_identity(port):
    first = RawDevice(port.endpoint)
    session = first.join(port)
    first.send(STATE, session=session)
    gather(port, until=lambda news: news.state)
    first.socket.close()
    wait_for(lambda: port.poll(0.002) is not None and not port.send_force(ZERO, 0))
    second = RawDevice(port.endpoint)
    try:
        assert second.join(port) == port.session != session
        assert port.silence_s() < port.replace_after_s, "not because it had been silent"
    finally:
        second.socket.close()


def test_round_trips_are_those_of_the_device_that_is_here(link, port):
    join(link, port)

    def answered() -> bool:
        port.send_force(ZERO, 0)
        link.newest_force()
        link.send_state(ZERO, ZERO)
        port.poll(0.002)
        return len(port.round_trip) > 0

    wait_for(answered)
    link.bye()
    link._last_hello_s = -math.inf
    link.try_connect()
    gather(port, until=lambda news: news.joined)
    assert len(port.round_trip) == 0


def test_bye_and_hello_in_one_poll_leave_a_device_that_can_arm(link, port):
    join(link, port)
    before = port.session
    link.bye()
    link._last_hello_s = -math.inf
    link.try_connect()
    time.sleep(0.1)  # both lie in the queue
    news = port.poll(0.1)
    assert news.left.startswith("the device left") and news.joined is not None
    assert port.device is not None and port.session not in (0, before)


def test_hello_and_bye_in_one_poll_leave_no_device(port, raw):
    raw.send(HELLO, stamp_ns=1)
    session = raw.receive(port, Welcome).session
    raw.send(HELLO, stamp_ns=2)
    raw.send(Bye("it had enough."), session=session)
    time.sleep(0.1)
    news = port.poll(0.1)
    assert news.joined is None and news.left == "the device left: it had enough." and port.device is None


def test_a_stop_that_lasted_for_one_state_of_a_poll_is_told(port, raw):
    session = raw.join(port)
    for flags in (DeviceFlag.READY, DeviceFlag.READY | DeviceFlag.STOPPED, DeviceFlag.READY):
        raw.send(replace(STATE, flags=int(flags)), session=session)
    time.sleep(0.1)
    news = port.poll(0.1)
    assert news.state is not None and news.state.flags == DeviceFlag.READY and news.stopped
    raw.send(replace(STATE, flags=int(DeviceFlag.READY)), session=session)
    assert not gather(port, until=lambda news: news.state).stopped


def test_a_flood_of_strangers_is_dropped_unread_while_a_device_is_heard(link, port):
    join(link, port)
    strangers = [RawDevice(port.endpoint) for _ in range(10)]
    try:
        for _ in range(8):
            for stranger in strangers:
                stranger.send(HELLO)
            link.send_state(ZERO, ZERO)
        time.sleep(0.1)
        seen, give_up = 0, time.monotonic() + 2.0
        while port.dropped["stranger"] < 60 and time.monotonic() < give_up:
            link.send_state(ZERO, ZERO)
            before = port.unsent + port._number
            seen += port.poll(0.002).state is not None
            assert port.unsent + port._number - before <= 2 * MAX_STRANGERS, (
                "each hello that is read is answered"
            )
        assert port.dropped["stranger"] >= 60 and seen > 0
    finally:
        for stranger in strangers:
            stranger.socket.close()


def test_another_protocol_version_is_rejected_in_a_sentence(port, raw):
    content = msgpack.unpackb(encode(replace(HELLO, number=1))) | {"v": 2}
    raw.socket.send(msgpack.packb(content))
    assert raw.receive(port, Reject).reason == "this server speaks protocol 1: install matching versions."
    assert port.dropped == {"version": 1}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rate_Hz": 2e5}, "rate_Hz has a value that is not allowed"),
        ({"name": 7}, "name has a value that is not allowed"),
        ({"dof_in": ...}, "dof_in is absent"),
    ],
)
def test_a_hello_that_is_not_acceptable_is_rejected_with_the_key(port, raw, changes, said):
    content = msgpack.unpackb(encode(replace(HELLO, number=1))) | changes
    raw.socket.send(msgpack.packb({key: value for key, value in content.items() if value is not ...}))
    assert raw.receive(port, Reject).reason == f"hello: {said}: compare it with docs/protocol.md."
    assert port.device is None


# ------------------------------------------------------------------------------------------------- abuse


def test_a_flood_of_ten_thousand_states_is_taken_in_bounded_polls_and_ends_with_the_newest(port, raw):
    session = raw.join(port)
    port.max_frames = 5  # fewer than the eight a queue holds, so that each poll meets its bound
    for i in range(10_000):
        raw.send(replace(STATE, position_m=(i * 1e-5, 0.0, 0.0)), session=session)
    newest, longest, give_up = None, 0.0, time.monotonic() + 30.0
    while (newest is None or newest.position_m[0] < 0.09999) and time.monotonic() < give_up:
        before, started = port.received, time.thread_time()
        newest = port.poll(0.01).state or newest
        longest = max(longest, time.thread_time() - started)
        assert port.received - before <= port.max_frames
    assert newest.position_m[0] == 9999 * 1e-5
    assert port.floods > 0 and port.missing == 0
    assert longest < 0.02  # processor time; five frames cost about 0.1 ms


def test_a_state_with_nan_never_reaches_the_server_and_is_counted(port, raw):
    session = raw.join(port)
    raw.send(replace(STATE, position_m=(math.nan, 0.0, 0.0)), session=session)
    raw.send(replace(STATE, velocity_m_per_s=(math.inf, 0.0, 0.0)), session=session)
    assert gather(port, 0.1).state is None
    assert port.dropped == {"value": 2}


def test_a_wrong_session_an_old_number_and_a_force_from_a_device_are_dropped(port, raw):
    session = raw.join(port)
    raw.send(STATE, session=session + 1)
    raw.send(Arm(), session=session, number=0)
    raw.send(Welcome(1.0, 1.0, 1.0, 1.0), session=session)
    news = gather(port, 0.1)
    assert (news.state, news.arm) == (None, False)
    assert port.dropped == {"session": 1, "stale": 1, "direction": 1}


def test_an_oversize_frame_costs_its_sender_the_connection_and_the_server_nothing(port, raw):
    raw.join(port)
    raw.socket.send(b"x" * 5000)
    gather(port, 0.1)
    assert not port.dropped, "the frame was read at all"
    other = RawDevice(port.endpoint)
    time.sleep(port.replace_after_s)
    assert other.join(port) == port.session
    other.socket.close()


def test_a_message_of_two_frames_is_dropped_whole(port, raw):
    raw.join(port)
    raw.socket.send_multipart([encode(STATE), encode(STATE)])
    gather(port, 0.1)
    assert port.dropped == {"frames": 1}


def test_the_link_drops_what_a_server_must_not_send(link, port):
    join(link, port)
    port._socket.send_multipart([port._peer, b"noise"])
    port._socket.send_multipart([port._peer, encode(replace(STATE, session=port.session, number=99))])
    port._socket.send_multipart([port._peer, b"a", b"b"])
    time.sleep(0.05)
    assert link.newest_force() is None
    assert link.dropped == {"msgpack": 1, "direction": 1, "frames": 1}


def test_a_force_of_nan_does_not_reach_the_device(link, port):
    join(link, port)
    port.send_force((math.nan, 0.0, 0.0), 2)
    time.sleep(0.05)
    assert link.newest_force() is None
    assert link.dropped == {"value": 1}
