"""Tools for authors: explain a verdict, propose fixes, live verdicts while editing, mutation scores."""
