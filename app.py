"""Start here: `streamlit run app.py` serves the console, with its guard in front."""

from pathlib import Path

from streamlit.starlette import App

from headgate.ui.server_guard import guards

app = App(Path(__file__).with_name("console.py"), middleware=guards())
