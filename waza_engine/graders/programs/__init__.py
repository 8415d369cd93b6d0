"""Programs that grade: how they are started, what they are told, what they answer."""
