"""CREATE, REFRESH, DROP, SHOW, DESCRIBE and EXPLAIN RELEASE: the releases of a store, made and listed."""
