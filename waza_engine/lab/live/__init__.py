"""Live verdicts: recorded answers graded again while a suite is edited."""
