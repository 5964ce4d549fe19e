"""The heights in a file: NPY, CSV, or a grey PNG of 8 or 16 bits."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path

import numpy as np

from hapticsim.config.height_field.surface import MOST_HEIGHTS, too_many_heights
from hapticsim.config.mesh_file.contents import contents
from hapticsim.errors import ConfigError

FORMATS = {".npy": "NPY", ".csv": "CSV", ".png": "PNG"}
MOST_BYTES = 1 << 28
GREY = {"L", "I", "I;16", "I;16B", "I;16L"}  # modes of Pillow


def read_heights(path: Path) -> np.ndarray:
    """Return the numbers in a file, (ny, nx): a row along x, the rows along y.

    The first row is at the lowest y; of a picture, which is seen from above with y up, the last one.

    Raises
    ------
    ConfigError : one sentence with the file, what was found, what is allowed and what to do.
    """
    data = contents(path, FORMATS, MOST_BYTES, "map of heights")
    match FORMATS[path.suffix.lower()]:
        case "NPY":
            return _npy(path, data)
        case "CSV":
            return _csv(path, data)
    return _png(path, data)


def _npy(path: Path, data: bytes) -> np.ndarray:
    stream = BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream)
        _check_shape(path, shape)
        if dtype.kind not in "iuf":
            raise ConfigError(path, "", f"holds {dtype.name} and no numbers: save floats or whole numbers.")
        stream.seek(0)
        return np.asarray(np.load(stream, allow_pickle=False), float)
    except (ValueError, EOFError, SyntaxError):
        raise ConfigError(path, "", "is no whole NPY file: save it again with numpy.save.") from None


def _csv(path: Path, data: bytes) -> np.ndarray:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it holds nothing
            found = np.loadtxt(BytesIO(data), delimiter=",", ndmin=2, encoding="utf-8-sig")
    except ValueError as error:
        said = str(error).partition(";")[0]
        raise ConfigError(
            path, "", f"is no table of numbers ({said}): write rows of as many numbers, with commas between."
        ) from None
    _check_shape(path, found.shape)
    return found


def _png(path: Path, data: bytes) -> np.ndarray:
    try:
        from PIL import Image  # of the extra ``meshes``
    except ImportError:
        raise ConfigError(
            path, "", "needs pillow, which is not installed: pip install 'hapticsim[meshes]'."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, of which there is a bound here
            picture = Image.open(BytesIO(data), formats=["PNG"])
            _check_shape(path, (picture.height, picture.width))
            if picture.mode not in GREY:
                raise ConfigError(
                    path, "", f"has colours or transparency ({picture.mode}): save it grey, of 8 or 16 bits."
                )
            return np.asarray(picture, float)[::-1]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise ConfigError(path, "", "is no whole PNG file: save it again.") from None


def _check_shape(path: Path, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ConfigError(
            path, "", f"holds an array of {len(shape)} dimensions: heights have rows and columns."
        )
    if shape[0] * shape[1] > MOST_HEIGHTS:
        raise too_many_heights(path, "", shape)
