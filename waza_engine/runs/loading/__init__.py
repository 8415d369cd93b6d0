"""Load the suite from disk: its eval file, its tasks from all sources, and the search for suites."""
