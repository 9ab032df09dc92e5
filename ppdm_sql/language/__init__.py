"""Text to statement values and back. Knows words, not tables or treatments."""
