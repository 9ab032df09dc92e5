"""The owner's side: the folder that is the safe, and the schema `ppdm_owner` inside the database.

Everything here is secret; nothing here is printed.
"""
