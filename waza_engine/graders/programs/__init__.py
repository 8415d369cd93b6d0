"""Programs that grade: how they are started, their input, their output."""
