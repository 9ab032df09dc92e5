"""PUBLISH RELEASE: a snapshot is written, verified, recorded and handed over."""
