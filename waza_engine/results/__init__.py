"""Result documents in upstream's layout, written atomically, and their history."""
