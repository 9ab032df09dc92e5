"""Secret numbers and orders: from the system's generator, or from a key that sites share."""
