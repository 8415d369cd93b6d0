"""Result files of every make and version, read: scores, recordings, documents."""
