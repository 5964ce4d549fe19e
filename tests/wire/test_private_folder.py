"""Where private sockets are kept."""

from __future__ import annotations

import pytest

from hapticsim.wire.sockets import endpoints


@pytest.mark.parametrize("value", ["/nowhere/at/all", "relative"])
def test_a_runtime_folder_that_cannot_be_used_is_said_once(tmp_path, monkeypatch, capsys, value):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(endpoints, "_told", "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", value)
    folder = endpoints.private_folder()
    assert endpoints.private_folder() == folder and folder.parent == tmp_path
    said = f"note: XDG_RUNTIME_DIR = {value!r} is no folder: sockets are in {folder}.\n"
    assert capsys.readouterr().err == said
