"""Results as tables, text, Markdown and a page."""
