"""The grading of a trial: graders, expectations, judges, and verdicts that were recorded before."""
