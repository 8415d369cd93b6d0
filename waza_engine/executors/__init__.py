"""What carries out a task's prompt: the mock executor and, later, real agents."""
