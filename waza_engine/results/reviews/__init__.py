"""What people say of pending graders, and how far judges agree with them."""
