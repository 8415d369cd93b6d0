"""Reviews of pending graders by people, and the agreement of judges with them."""
