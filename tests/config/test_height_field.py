"""Height fields: what the numbers of a file, of a scene and of an MJCF file become, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hapticsim.config.height_field import surface
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Shape
from tests.mesh_files import check_closed, volume_of

BODY = "{name: part, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}"
HEIGHTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])  # ny 2, nx 3


def field(folder: Path, keys: str, kind: str = "height_field") -> Shape:
    text = (
        f"name: s\nrobot:\n  bodies: [{BODY}]\n"
        "  joints: [{name: j, type: free, parent: world, child: part}]\n"
        f"shapes:\n  - {{name: ground, kind: {kind}, {keys}}}\n"
        "  - {name: ball, kind: sphere, body: part, radius_m: 0.1}\n"
        "contacts:\n  - {between: [ball, ground]}\n"
    )
    return loads(text, folder / "scene.yaml").shapes[0]


def refusal(folder: Path, keys: str) -> str:
    with pytest.raises(ConfigError) as caught:
        field(folder, keys)
    sentence = str(caught.value)
    assert sentence.endswith(".") and "\n" not in sentence
    return sentence.removeprefix(f"{folder}/")


def height_at(shape: Shape, x: float, y: float) -> float:
    """The height of the vertex over a point of the grid."""
    above = [v[2] for v in shape.mesh.vertices if np.allclose(v[:2], (x, y), atol=1e-12)]
    return float(max(above))


def saved(folder: Path, suffix: str, heights: np.ndarray) -> Path:
    path = folder / f"h.{suffix}"
    match suffix:
        case "npy":
            np.save(path, heights)
        case "csv":
            np.savetxt(path, heights, delimiter=",")
        case "png":
            Image.fromarray(np.round(heights[::-1]).astype(np.uint16)).save(path)
    return path


@pytest.mark.parametrize("suffix", ["npy", "csv", "png"])
def test_every_format_gives_the_same_surface(tmp_path, suffix):
    saved(tmp_path, suffix, HEIGHTS)
    shape = field(tmp_path, f"file: h.{suffix}, size_m: [2, 1], scale: 0.1, base_m: 0.5")
    assert shape.kind == "mesh"
    check_closed(shape.mesh)
    for i, y in enumerate((-0.5, 0.5)):
        for j, x in enumerate((-1.0, 0.0, 1.0)):
            assert height_at(shape, x, y) == pytest.approx(0.1 * HEIGHTS[i, j], abs=1e-12)
    assert shape.mesh.vertices[:, 2].min() == -0.5
    assert volume_of(shape.mesh) == pytest.approx(2.0 * (0.25 + 0.5), rel=1e-12)  # a plane: its mean height


def test_a_picture_of_sixteen_bits_keeps_them(tmp_path):
    heights = np.array([[0, 1], [65535, 256]])
    saved(tmp_path, "png", heights)
    shape = field(tmp_path, "file: h.png, size_m: [1, 1], scale: 1.0e-3")
    assert height_at(shape, -0.5, 0.5) == pytest.approx(65.535)
    assert height_at(shape, 0.5, 0.5) == pytest.approx(0.256)


@pytest.mark.parametrize("seed", range(5))
def test_a_random_field_is_closed_and_has_the_volume_of_its_prisms(tmp_path, seed):
    rng = np.random.default_rng(seed)
    ny, nx = (int(n) for n in rng.integers(2, 9, 2))
    heights = rng.normal(size=(ny, nx))
    saved(tmp_path, "npy", heights)
    mesh = field(tmp_path, "file: h.npy, size_m: [3, 2], base_m: 0.2").mesh
    check_closed(mesh)
    a, b, c, d = heights[:-1, :-1], heights[:-1, 1:], heights[1:, 1:], heights[1:, :-1]
    cell = 6.0 / (nx - 1) / (ny - 1)
    over = float(np.sum((a + b + c) / 6.0 + (a + c + d) / 6.0)) * cell
    assert volume_of(mesh) == pytest.approx(over + 6.0 * (0.2 - heights.min()), rel=1e-9)


def test_heights_may_stand_in_the_scene(tmp_path):
    shape = field(tmp_path, "heights_m: [[0, 0.1], [0.2, 0.4]], size_m: [1, 1]")
    assert height_at(shape, 0.5, -0.5) == 0.1 and height_at(shape, -0.5, 0.5) == 0.2


def test_a_sphere_touches_it_and_a_box_does_not(tmp_path):
    with pytest.raises(ConfigError, match="has the mesh 'ground' touch a box, and it is not convex"):
        loads(
            "name: s\nrobot:\n"
            f"  bodies: [{BODY}]\n  joints: [{{name: j, type: free, parent: world, child: part}}]\n"
            "shapes:\n"
            "  - {name: ground, kind: height_field, heights_m: [[0, 1, 0], [0, 0, 0]], size_m: [1, 1]}\n"
            "  - {name: box, kind: box, body: part, half_extents_m: [1, 1, 1]}\n"
            "contacts:\n  - {between: [box, ground]}\n",
            tmp_path / "scene.yaml",
        )


@pytest.mark.parametrize(
    ("heights", "sentence"),
    [
        ("[[0, .nan], [0, 0]]", "has the height nan in row 1, column 2: all must be finite."),
        ("[[0, 1]]", "has 1 x 2 heights: a field has at least 2 x 2."),
        ("[[0], [1]]", "has 2 x 1 heights: a field has at least 2 x 2."),
        ("[[0, 1], [2]]", "it must be a list of rows with as many finite numbers each."),
        ("[]", "it must be a list of rows with as many finite numbers each."),
        ("[[0, high], [0, 0]]", "it must be a list of rows with as many finite numbers each."),
        ("[[0, 2000], [0, 0]]", "reaches 2000 m from its origin and may reach 1000 m: make it smaller."),
    ],
)
def test_heights_that_are_none_are_refused(tmp_path, heights, sentence):
    found = refusal(tmp_path, f"heights_m: {heights}, size_m: [1, 1]")
    assert found.startswith("scene.yaml: shapes[0].heights_m ") and found.endswith(sentence)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            "size_m: [1, 1]",
            "scene.yaml: shapes[0] must have either a file or heights_m: give one of the two.",
        ),
        (
            "file: h.npy, heights_m: [[0, 0], [0, 0]], size_m: [1, 1]",
            "scene.yaml: shapes[0] must have either a file or heights_m: give one of the two.",
        ),
        (
            "heights_m: [[0, 0], [0, 0]], size_m: [1, 1], scale: 2.0",
            "scene.yaml: shapes[0].scale is for a file: remove it.",
        ),
        (
            "file: h.npy, size_m: [1, -1]",
            "scene.yaml: shapes[0].size_m[1] = -1 is not usable: it must be a finite",
        ),
        ("file: none.npy, size_m: [1, 1]", "none.npy: does not exist"),
        ("file: h.txt, size_m: [1, 1]", "h.txt: has the suffix '.txt', which is not read"),
        ('file: "h\\0.npy", size_m: [1, 1]', "is not a path: remove the NUL character."),
    ],
)
def test_keys_that_do_not_fit_are_refused(tmp_path, keys, sentence):
    saved(tmp_path, "npy", HEIGHTS)
    (tmp_path / "h.txt").write_text("0")
    assert sentence in refusal(tmp_path, keys)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("h.npy", b"\x93NUMPY\x01\x00", "is no whole NPY file: save it again with numpy.save."),
        ("h.npy", b"nonsense", "is no whole NPY file: save it again with numpy.save."),
        ("h.csv", b"1,2\n3\n", "is no table of numbers"),
        ("h.csv", b"1,2\n3,x\n", "is no table of numbers"),
        ("h.csv", b"# nothing\n", "has 0 x 1 heights: a field has at least 2 x 2."),
        ("h.csv", b"1,nan\n3,4\n", "has the height nan in row 1, column 2: all must be finite."),
        ("h.png", b"\x89PNG\r\n\x1a\n0000", "is no whole PNG file: save it again."),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, name, data, sentence):
    (tmp_path / name).write_bytes(data)
    found = refusal(tmp_path, f"file: {name}, size_m: [1, 1]")
    assert found.startswith(f"{name}: ") and sentence in found


def test_arrays_and_pictures_that_are_no_heights_are_refused(tmp_path):
    for array, sentence in (
        (np.zeros((2, 2, 2)), "holds an array of 3 dimensions: heights have rows and columns."),
        (np.zeros((2, 2), complex), "holds complex128 and no numbers: save floats or whole numbers."),
        (
            np.array([["a", "b"], ["c", "d"]], object),
            "holds object and no numbers: save floats or whole numbers.",
        ),
    ):
        np.save(tmp_path / "h.npy", array, allow_pickle=True)
        assert refusal(tmp_path, "file: h.npy, size_m: [1, 1]") == f"h.npy: {sentence}"
    Image.fromarray(np.zeros((3, 3, 3), np.uint8)).save(tmp_path / "h.png")
    assert refusal(tmp_path, "file: h.png, size_m: [1, 1]") == (
        "h.png: has colours or transparency (RGB): save it grey, of 8 or 16 bits."
    )


@pytest.mark.parametrize("suffix", ["npy", "csv", "png"])
def test_too_many_heights_are_refused(tmp_path, monkeypatch, suffix):
    from hapticsim.config.height_field import heights

    monkeypatch.setattr(heights, "MOST_HEIGHTS", 5)
    monkeypatch.setattr(surface, "MOST_HEIGHTS", 5)
    saved(tmp_path, suffix, HEIGHTS)
    assert refusal(tmp_path, f"file: h.{suffix}, size_m: [1, 1]") == (
        f"h.{suffix}: has 2 x 3 heights and may have 5: take a coarser grid, or cut it."
    )


def test_an_npy_file_that_claims_to_be_huge_is_not_believed(tmp_path):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000, 10000000), }"
    head += " " * (117 - len(head)) + "\n"
    (tmp_path / "h.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
    assert "has 10000000 x 10000000 heights and may have" in refusal(tmp_path, "file: h.npy, size_m: [1, 1]")


def test_without_pillow_a_sentence_says_what_installs_it(tmp_path, monkeypatch):
    import sys

    saved(tmp_path, "png", HEIGHTS)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert refusal(tmp_path, "file: h.png, size_m: [1, 1]") == (
        "h.png: needs pillow, which is not installed: pip install 'hapticsim[meshes]'."
    )


def test_a_field_of_an_mjcf_file_is_where_mujoco_has_it(tmp_path):
    """It spreads the numbers over 0 to 1 and multiplies them by the third size; the fourth is the base."""
    import mujoco

    (tmp_path / "r.xml").write_text(
        "<mujoco><asset>"
        "<hfield name='h' nrow='2' ncol='3' size='1 0.5 0.4 0.3' elevation='0 1 2 3 4 8'/></asset>"
        "<worldbody><geom name='ground' type='hfield' hfield='h' pos='0 0 1'/>"
        "<body name='thing' pos='0 0 3'><freejoint/><geom type='sphere' size='0.1'/></body>"
        "</worldbody></mujoco>"
    )
    made = loads("name: s\nrobot: {mjcf: {path: r.xml, collision: true}}\n", tmp_path / "s.yaml")
    ground = made.shapes[0]
    assert (ground.name, ground.kind, ground.body) == ("ground", "mesh", "world")
    check_closed(ground.mesh)
    assert ground.mesh.vertices[:, 2].min() == pytest.approx(-0.3)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for x in (-0.999, 0.0, 0.999):
        for y in (-0.499, 0.499):
            start, down = np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0])
            far = mujoco.mj_ray(model, data, start, down, None, 1, 1, np.zeros(1, np.int32), None)
            assert height_at(ground, round(x), round(2 * y) / 2) + 1.0 == pytest.approx(5.0 - far, abs=2e-3)
