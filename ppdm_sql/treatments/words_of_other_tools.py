"""Words of other tools, and what is written here instead."""

from __future__ import annotations

_GROUPS = "a GENERALIZE clause after the list of columns makes values coarser until k is reached"
INSTEAD = {
    "anonymize": "name the treatment: SHOW TREATMENTS lists them",
    "age": "age_at('2026-01-01') gives whole years from a date of birth",
    "bin": "graded_grouping(bands => 5) keeps the place inside a band; " + _GROUPS,
    "bucket": "graded_grouping(bands => 5) keeps the place inside a band; " + _GROUPS,
    "date_trunc": "truncate('month') gives the beginning of the month",
    "drop": "leave the column out, or list it as IDENTIFIER: then it is not released",
    "generalize": _GROUPS,
    "hash": "pseudonym() is a keyed hash: without the owner's key nobody can compute it",
    "mask": "partial(left => 2, right => 4) shows the ends of a text; suppress() hides it",
    "null": "suppress() makes every value NULL",
    "perturb": "noise(normal(0, 10)), or noise(laplace(0, 10))",
    "random": "noise(uniform(-5, 5)) adds a random number that is fixed for each row",
    "redact": "suppress() hides the values",
    "shift": "translation() adds one secret number, also to dates",
    "permute": "shuffle() gives each row the value of a random row",
    "swap": "rank_swap(percent => 5) for numbers, shuffle() and pram(keep => 0.8) for others",
    "token": "pseudonym() gives equal values equal names that only the owner can make",
    "tokenize": "pseudonym() gives equal values equal names that only the owner can make",
    "topcode": "top_code(at => 90), bottom_code(at => 18)",
}
