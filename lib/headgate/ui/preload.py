"""Import what the pages use before anybody visits them."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


def preload(pages: Path) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return the lifespan of a server that imports what the files of a folder import at their top.

    Streamlit does it at the first visit, which took two seconds longer for it. It is done once the
    runtime exists, which caches need at their declaration, and before the port answers.
    """

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        for page in sorted(pages.glob("*.py")):
            for statement in ast.parse(page.read_text("utf-8")).body:
                if isinstance(statement, ast.ImportFrom) and statement.module:
                    import_module(statement.module)
        yield

    return lifespan
