"""Words of other tools, and what is written here instead."""

from __future__ import annotations

_GROUPS = "a GENERALIZE clause after the list of columns makes values coarser until k is reached"
INSTEAD = {
    "anonymize": "name the treatment: SHOW TREATMENTS lists them",
    "bin": "graded_grouping(bands => 5) keeps the place inside a band; " + _GROUPS,
    "bucket": "graded_grouping(bands => 5) keeps the place inside a band; " + _GROUPS,
    "drop": "leave the column out, or list it as IDENTIFIER: then it is not released",
    "encrypt": "pseudonym() gives equal values equal names that only the owner can make",
    "fake": "mapping() gives each category an alias, pseudonym() each person a name",
    "generalize": _GROUPS,
    "hash": "pseudonym() is a keyed hash: without the owner's key nobody can compute it",
    "mask": "suppress() hides the values; " + _GROUPS,
    "null": "suppress() makes every value NULL",
    "partial": "suppress() hides the values; " + _GROUPS,
    "perturb": "noise(normal(0, 10)), or noise(laplace(0, 10))",
    "pram": "there is no random exchange of categories; mapping() renames them, and " + _GROUPS,
    "random": "noise(uniform(-5, 5)) adds a random number that is fixed for each row",
    "redact": "suppress() hides the values",
    "round": "round it in a (SELECT …) source; " + _GROUPS,
    "shift": "translation() adds one secret number, also to dates",
    "shuffle": "rows are written in random order by PUBLISH; values are not exchanged between rows",
    "swap": "values are not exchanged between rows; microaggregation(size => 5) gives groups of"
    " similar rows one value",
    "token": "pseudonym() gives equal values equal names that only the owner can make",
    "tokenize": "pseudonym() gives equal values equal names that only the owner can make",
    "topcode": "write least(x, 99) in a (SELECT …) source",
}
