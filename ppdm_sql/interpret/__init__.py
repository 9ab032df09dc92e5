"""Results in released terms back into original ones.

`run` reads the store and the source; the rest is pure: what was drawn comes in as an argument.

`predicates` reads a condition, `rewriting` turns it into one on original columns, `items` does so
for the texts that miners print, `tables` for whole tables of results. What cannot be translated
is left in released terms and said, never guessed.
"""
