"""Register the list of pages, and nothing else."""

from pathlib import Path

from headgate.ui.shared.page import navigate

navigate(Path(__file__).parent)
