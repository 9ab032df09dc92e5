"""What an audit reads: the rows of a version beside their originals, backgrounds, earlier versions."""
