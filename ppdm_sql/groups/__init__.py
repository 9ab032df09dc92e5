"""GENERALIZE: groups of people who show the same.

clause, when   the clause bound to its source      compile    the SELECT that it makes
run, queries   counted, searched, verified         findings   what was found, as values
messages       sentences about it                  search/    the search itself, on numbers
hierarchies, shapes, ladders                       high_class what rows outside WHEN give away
"""
