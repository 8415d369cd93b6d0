"""The suite on disk, read: its eval file, its tasks wherever they are written, and where suites lie."""
