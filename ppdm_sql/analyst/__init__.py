"""What an analyst holds: a published file, asked in a locked process of its own behind a gate."""
