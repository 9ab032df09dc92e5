"""Several sites: agreements that they share, and one study of what they published."""
