"""How `make docs` builds these pages: Sphinx, with Markdown by MyST."""

project = "Mohone"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "Mohone"
suppress_warnings = ["myst.xref_missing"]  # Of files of the repository, which are no pages.
