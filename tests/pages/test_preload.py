"""What the pages import is there before anybody visits them."""

import asyncio
import sys

from headgate.ui.preload import preload


def test_what_pages_import_at_their_top_is_imported_when_the_server_starts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("needed_at_once", "needed_later"):
        (tmp_path / f"{name}.py").write_text("WORD = 1\n")
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "one.py").write_text(
        "from needed_at_once import WORD\ndef main():\n    from needed_later import WORD\n"
    )

    async def served():
        async with preload(pages)(None):
            return [name in sys.modules for name in ("needed_at_once", "needed_later")]

    assert "needed_at_once" not in sys.modules
    assert asyncio.run(served()) == [True, False]
