"""How a published file or folder is written, recognised, and put in its place at once."""
