"""What ends things in time: deadlines, cancellation, and what a run may spend."""
