"""Mining on original and released data, side by side: `make experiments` writes docs/mining.md."""
