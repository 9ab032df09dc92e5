"""Values and protocols that the other rooms share. Frozen, no I/O, no engine.

`syntax` is what a statement says, `transform` what a treatment must offer, `release` what a
statement means once its source is known, `types` the column types treatments tell apart.
"""
