"""Sphinx's configuration for the site that script/docs builds from the pages that pages.py collects."""
project = "histo"
copyright = "the authors of histo"  # pylint: disable=redefined-builtin
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_title = "histo"
html_static_path = ["static"]
html_css_files = ["histo.css"]
html_show_sphinx = False
html_copy_source = False
myst_heading_anchors = 4
smartquotes = False
copybutton_prompt_text = "$ "
suppress_warnings = ["misc.highlighting_failure"]
