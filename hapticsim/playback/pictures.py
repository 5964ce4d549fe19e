"""Pictures of a recording, drawn without a display: one at a time, or as a GIF or MP4 file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError, DeviceError
from hapticsim.files.new_file import check_new_file
from hapticsim.playback.animation import Animation

PICTURE_SIZE = (1200, 800)  # [px]
FILM_SIZE = (720, 480)
SAMPLES_TO_FIT = 60  # poses that the camera looks at to see all of the motion
NO_PYGAME = "needs the package {0!r}: pip install 'hapticsim[{1}]'."


class Camera:
    """Draws a recording at any time of it, from where all of its motion is seen.

    size : [px] width and height.  Use it as a context manager: it holds pygame's one display, a memory.

    Raises
    ------
    DeviceError : pygame is not installed.
    """

    def __init__(self, animation: Animation, size: tuple[int, int]) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting on stdout
        try:
            import pygame
        except ImportError:
            raise DeviceError("A picture " + NO_PYGAME.format("pygame-ce", "window")) from None
        from hapticsim.display.messages.scene import SceneMessage
        from hapticsim.display.palette import Type
        from hapticsim.display.scene.camera import OrbitCamera
        from hapticsim.display.scene.draw import FIRST_ELEVATION, SceneDrawing

        self.animation = animation
        before = os.environ.get("SDL_VIDEODRIVER")
        os.environ["SDL_VIDEODRIVER"] = "dummy"  # pictures are made in memory, also where there is a display
        try:
            pygame.display.init()
            self._surface = pygame.display.set_mode(size)
        finally:
            os.environ.pop("SDL_VIDEODRIVER") if before is None else os.environ.update(SDL_VIDEODRIVER=before)
        self._type, self._drawing = Type(), SceneDrawing(SceneMessage.read(animation.scene))
        self._view = OrbitCamera(*size, elevation=FIRST_ELEVATION)
        some = np.linspace(animation.time[0], animation.time[-1], SAMPLES_TO_FIT)
        poses = [animation.picture(t).poses for t in some]
        self._view.fit(np.concatenate([self._drawing.points_of_interest(p) for p in poses]))

    def draw(self, time_s: float) -> np.ndarray:
        """(height, width, 3) bytes, the last row at or before a time."""
        import pygame

        from hapticsim.display.scene.draw import Picture
        from hapticsim.display.scene.labels import write_labels

        state = self.animation.picture(time_s)
        labels = self._drawing.draw(self._surface, self._view, Picture(state, None))
        write_labels(self._type, self._surface, labels)
        self._type.write(self._surface, f"{time_s:.2f} s", (12, 10))
        return np.ascontiguousarray(np.swapaxes(pygame.surfarray.array3d(self._surface), 0, 1))

    def png(self, time_s: float) -> bytes:
        """Draw, and return the picture as the bytes of a PNG file."""
        import io

        import pygame

        self.draw(time_s)
        out = io.BytesIO()
        pygame.image.save(self._surface, out, "picture.png")
        return out.getvalue()

    def save(self, time_s: float, out: Path) -> None:
        """Draw, and write the picture as PNG.  Raises ConfigError where the file cannot be written."""
        from hapticsim.display.screen import save_picture

        self.draw(time_s)
        save_picture(self._surface, out)

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, *about: object) -> None:
        import pygame

        pygame.display.quit()


def picture(
    file: Path, out: Path, time_s: float, progress: Callable[[str], Any], trust: bool = False
) -> None:
    """Write one picture of a recording.

    out : PNG file to make.
    time_s : [s] of the recording.

    Raises
    ------
    ConfigError : ``out`` is no new PNG file, or the recording has no such time.
    """
    check_new_file(out, (".png",), "a picture of one time")
    animation = Animation(file, progress, trust, at_s=time_s)
    with Camera(animation, PICTURE_SIZE) as camera:
        camera.save(time_s, out)


def film(
    file: Path, out: Path, speed: float, fps: float, progress: Callable[[str], Any], trust: bool = False
) -> int:
    """Write a recording as a film; returns the number of frames.

    out : ``.gif`` (needs pillow) or ``.mp4`` (needs imageio-ffmpeg; both in the extra ``studies``).
    speed : seconds of the recording in a second of the film.
    """
    save = _writer(out)
    animation = Animation(file, progress, trust)
    count = 1 + int((animation.time[-1] - animation.time[0]) / speed * fps)
    with Camera(animation, FILM_SIZE) as camera:
        save(out, _pictures(camera, count, speed / fps), fps, count)
    return count


def _pictures(camera: Camera, count: int, step_s: float) -> Iterator[np.ndarray]:
    """Pictures (height, width, 3), bytes."""
    from rich.progress import track

    begin = float(camera.animation.time[0])
    for k in track(range(count), "drawing", transient=True):
        yield camera.draw(begin + k * step_s)


Save = Callable[[Path, Iterator[np.ndarray], float, int], None]


def _writer(out: Path) -> Save:
    """Return what writes this kind of file; refuses before anything is drawn."""
    kinds: dict[str, tuple[str, Save]] = {".gif": ("PIL", _save_gif), ".mp4": ("imageio_ffmpeg", _save_mp4)}
    if out.suffix.lower() == ".png":
        raise ConfigError(out, "", "is one picture: give --at TIME too, or end its name in .gif or .mp4.")
    check_new_file(out, tuple(kinds), "a film")
    module, save = kinds[out.suffix.lower()]
    try:
        __import__(module)
        import hapticsim.display.palette  # noqa: F401, the first to need pygame
    except ImportError as error:
        raise DeviceError(f"{out}: {NO_PYGAME.format(error.name, 'window,studies')}") from None
    return save


def _save_gif(out: Path, pictures: Iterator[np.ndarray], fps: float, count: int) -> None:
    from PIL import Image

    first, *rest = (Image.fromarray(p).quantize(64) for p in pictures)
    first.save(out, save_all=True, append_images=rest, duration=round(1000.0 / fps), loop=0)


def _save_mp4(out: Path, pictures: Iterator[np.ndarray], fps: float, count: int) -> None:
    import imageio_ffmpeg

    sink = imageio_ffmpeg.write_frames(str(out), FILM_SIZE, fps=fps, macro_block_size=1)
    sink.send(None)
    for picture in pictures:
        sink.send(picture)
    sink.close()
