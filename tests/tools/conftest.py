"""What tests of the tools share."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(name="tool")
def _tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a tool's module by name."""
    monkeypatch.syspath_prepend(str(TOOLS))

    def load(name: str) -> ModuleType:
        return __import__(name)

    return load
