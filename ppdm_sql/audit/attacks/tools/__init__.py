"""What several attacks use; none of these is an attack."""
