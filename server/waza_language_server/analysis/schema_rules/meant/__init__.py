"""Coercions of values in another form: a string in, the edit or the intended value out."""
