"""Files of others. A database of a stranger is a program: look at what is in it before reading it."""
