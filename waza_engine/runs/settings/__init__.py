"""The settings of a run: their table, and the suite with them applied."""
