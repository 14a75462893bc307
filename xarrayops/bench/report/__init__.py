"""Reports: tables, terminal output, Markdown and an HTML page."""
