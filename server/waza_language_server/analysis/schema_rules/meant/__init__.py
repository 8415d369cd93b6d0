"""What a value in another form was meant to be: text in, the edit or the value that was meant out."""
