"""The owner's side: the folder that is the safe, and the schema `ppdm_owner` inside the database.

Takes a `Runner`, not a connection. Everything here is secret; nothing here is printed.
"""
