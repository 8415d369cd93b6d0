"""Reports of a result document: tables, JUnit, comparisons of runs."""
