"""A result document as others want to see it: tables, JUnit, runs beside each other."""
