"""Grade recorded answers again while the suite is edited, explain the verdicts, and propose fixes."""
