"""The window: a process of its own that looks at a server and, with a mouse, moves the hand.

The loop takes messages and input and publishes the pointer 120 times a second; it draws at most 60 times a
second and leaves a third of its time free, so that a slow machine loses frames and not input.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pygame

from hapticsim.display.feed import Feed
from hapticsim.display.input.controls import Controls
from hapticsim.display.input.pointer import PointerTarget
from hapticsim.display.input.switching import SwitchKeys
from hapticsim.display.messages.scene import StateMessage
from hapticsim.display.pace import Pace
from hapticsim.display.palette import SKY_BOTTOM, Type
from hapticsim.display.panel.notices import draw_banner, draw_help, draw_hint
from hapticsim.display.panel.panel import WIDTH as PANEL_WIDTH
from hapticsim.display.panel.panel import Panel, Readings
from hapticsim.display.panel.words import silence_words
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.draw import FIRST_ELEVATION, Picture, SceneDrawing
from hapticsim.display.scene.labels import Label, write_labels
from hapticsim.display.screen import SIZE, check_can_save, open_screen, resized_screen, save_picture
from hapticsim.errors import ConfigError
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.sockets.endpoints import control_beside

_POLL_S = 1.0 / 120.0
_NOTE_S = 4.0
_REACH = 1.5  # of the target, in workspace radii: beyond 1 the hand leans on what it meets
_SCREENSHOT_FRAMES = 120  # when a screenshot is asked for and no number of frames


class Window:
    """What is on the screen, and the loop that keeps it fresh.

    publish_endpoint  : where the server publishes.
    pointer_endpoint  : where to publish the pointer for the ``mouse`` driver; None: only look.
    keys : folder of CURVE keys, for a server on another machine.
    control_endpoint : where the server takes switches; None: beside the publish endpoint.
    in_memory : for a picture: without a display, draw without one.

    Raises DeviceError when there is no display, WireError when an endpoint cannot be used.
    """

    def __init__(
        self,
        publish_endpoint: str,
        pointer_endpoint: str | None = None,
        keys: Path | None = None,
        control_endpoint: str | None = None,
        in_memory: bool = False,
    ) -> None:
        self.screen = open_screen(in_memory)
        self.type = Type()
        self.panel = Panel(self.type)
        self.camera = OrbitCamera(SIZE[0] - PANEL_WIDTH, SIZE[1], elevation=FIRST_ELEVATION)
        self.controls = Controls(self.camera)
        self.feed = Feed(publish_endpoint, keys)
        self.publisher = Publisher(pointer_endpoint) if pointer_endpoint else None
        self.switch_keys = SwitchKeys(control_endpoint or control_beside(publish_endpoint), keys)
        self.drawing: SceneDrawing | None = None
        self.pace = Pace()
        self.frames_drawn = 0
        self._aimed = False
        self._sequence = 0
        self._note, self._note_until_s = "", 0.0

    def run(self, frames: int | None = None, screenshot: str | os.PathLike[str] | None = None) -> None:
        """Until closed, or until ``frames`` are drawn; then save a picture if one was asked for."""
        if screenshot is not None and frames is None:
            frames = _SCREENSHOT_FRAMES
        while not self.controls.closing and (frames is None or self.frames_drawn < frames):
            now_s = time.monotonic()
            self.controls.rotate_hand(now_s)
            for event in pygame.event.get():
                self.controls.take(event, now_s)
            self.feed.poll()
            self.take_scene()
            self._publish_pointer(now_s)
            self.take_switches()
            if now_s >= self.pace.next_s:
                self.draw()
                pygame.display.flip()
                self.pace.drawn(now_s, time.monotonic())
            if self.controls.screenshot_wanted:
                self.controls.screenshot_wanted = False
                self._say(self._saved(Path(time.strftime("hapticsim-%Y%m%d-%H%M%S.png"))))
            time.sleep(max(0.0, min(self.pace.next_s, now_s + _POLL_S) - time.monotonic()))
        if screenshot is not None:
            save_picture(self.screen, Path(screenshot))

    def close(self) -> None:
        """Close the sockets and the window."""
        self.feed.close()
        self.switch_keys.close()
        if self.publisher is not None:
            self.publisher.close()
        pygame.display.quit()

    def draw(self) -> None:
        """Draw one frame on the screen surface."""
        if self.controls.resized:
            self._resize()
        if self.controls.first_view_wanted:
            self.controls.first_view_wanted = self._aimed = False
        feed = self.feed
        view = self.screen.subsurface((0, 0, self.camera.width_px, self.camera.height_px))
        pointer = self.controls.pointer
        picture = Picture(feed.state, feed.predicted, self._target())
        labels: list[Label] = []
        if self.drawing is None:
            view.fill(SKY_BOTTOM)
        else:
            if not self._aimed and feed.state is not None:
                self._aim(self.drawing, feed.state)
            labels = self.drawing.draw(view, self.camera, picture, self.pace.detail)
        write_labels(self.type, view, labels)
        silence = silence_words(feed.state_age_s, feed.endpoint)
        readings = Readings(
            feed.scene,
            feed.state,
            feed.predicted,
            feed.stats,
            tuple(feed.events),
            steers=pointer is not None,
            silent=silence is not None,
            trouble=feed.trouble,
        )
        area = pygame.Rect(self.camera.width_px, 0, PANEL_WIDTH, self.camera.height_px)
        self.panel.draw(self.screen, area, readings)
        self._draw_words(view, silence)
        self.frames_drawn += 1

    def _draw_words(self, view: pygame.Surface, silence: str | None) -> None:
        now_s = time.monotonic()
        if silence is not None:
            draw_banner(self.type, view, silence)
        if self.controls.help_shown:
            draw_help(self.type, view, self.panel.legend(self.feed.scene).picture)
        hint = "H: help"
        if now_s < self._note_until_s:
            hint = self._note
        elif self.controls.esc_again(now_s):
            hint = "Esc again closes the window"
        draw_hint(self.type, view, hint)

    def take_scene(self) -> None:
        """Show a scene that is new, or that changed; keep the view and the pointer if it is the same one."""
        feed, scene = self.feed, self.feed.scene
        if scene is None or not (feed.scene_changed or feed.mapping_changed):
            return
        is_another = feed.scene_changed  # the first, or the server was started again with another one
        feed.scene_changed = feed.mapping_changed = False
        self.drawing = SceneDrawing(scene)
        mapping = (scene.origin_W, scene.R_WD, scene.motion_scale, _REACH * scene.workspace_radius)
        if is_another:
            self._aimed = False
            pygame.display.set_caption(f"hapticsim: {scene.name}")
            if self.publisher is not None:
                self.controls.pointer = PointerTarget(*mapping)
        else:
            self.controls.map_again(*mapping)

    def take_switches(self) -> None:
        """Pass on the number keys that were pressed, and say what the server answers."""
        wanted, self.controls.switches_wanted = self.controls.switches_wanted, []
        notes = [self.switch_keys.press(n, self.feed.scene, self.feed.state) for n in wanted]
        notes += [answer] if (answer := self.switch_keys.poll()) else []
        if notes:
            self._say(notes[-1])

    def _saved(self, path: Path) -> str:
        try:
            save_picture(self.screen, path)
        except ConfigError as refusal:
            return str(refusal)
        return f"saved {path.resolve()}"

    def _say(self, note: str) -> None:
        self._note, self._note_until_s = note, time.monotonic() + _NOTE_S

    def _target(self) -> np.ndarray | None:
        """(3,) [m] where the hand is asked to go: by this window if it steers, else as the server says."""
        if self.controls.pointer is not None:
            return self.controls.pointer.target_D
        return self.feed.state.target_D if self.feed.state is not None else None

    def _aim(self, drawing: SceneDrawing, state: StateMessage) -> None:
        """First view: along +Y of the world, from a little above, the whole scene in the picture."""
        self.camera.azimuth, self.camera.elevation = 0.0, FIRST_ELEVATION
        self.camera.fit(drawing.points_of_interest(state.poses))
        self._aimed = True

    def _publish_pointer(self, now_s: float) -> None:
        pointer = self.controls.pointer
        if self.publisher is None or pointer is None:
            return
        self._sequence += 1
        message = {
            "target": [float(x) for x in pointer.target_D],
            "turn": pointer.turn,
            "buttons": self.controls.buttons.mask(now_s),
            "sequence": self._sequence,
        }
        self.publisher.offer("pointer", message)

    def _resize(self) -> None:
        self.controls.resized = False
        self.screen = resized_screen(self.screen)
        width, height = self.screen.get_size()
        self.camera.width_px, self.camera.height_px = width - PANEL_WIDTH, height


def main(
    publish_endpoint: str,
    pointer_endpoint: str | None = None,
    frames: int | None = None,
    screenshot: str | os.PathLike[str] | None = None,
    keys: Path | None = None,
    control_endpoint: str | None = None,
) -> None:
    """Open the window and stay until it is closed, or until ``frames`` frames are drawn.

    screenshot : PNG file to save after the last frame; without ``frames`` that is the 120th.

    Raises DeviceError when there is no display, WireError when an endpoint cannot be used, ConfigError when
    the picture cannot be saved.
    """
    if screenshot is not None:
        check_can_save(Path(screenshot))
    window = Window(publish_endpoint, pointer_endpoint, keys, control_endpoint, screenshot is not None)
    try:
        window.run(frames, screenshot)
    except KeyboardInterrupt:
        pass  # Ctrl-C in the terminal closes the window like Q does
    finally:
        window.close()
