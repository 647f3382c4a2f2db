"""Start here: `streamlit run app.py` serves the console, with its guard in front."""

from pathlib import Path

from streamlit.starlette import App

from headgate.ui.preload import preload
from headgate.ui.shared.server_guard import guards

HERE = Path(__file__).parent
app = App(HERE / "console.py", lifespan=preload(HERE / "pages"), middleware=guards())
