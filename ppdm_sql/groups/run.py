"""GENERALIZE on the data: count, search, write the table of combinations, verify what leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.errors import BindError, EngineError, Refused, plural
from ppdm_sql.groups import queries, search
from ppdm_sql.groups.compile import (
    COUNT,
    ID,
    fixed_column,
    fixed_quasi,
    grouping_of,
    key_column,
)
from ppdm_sql.groups.findings import Findings, Generalized, LinkedRows, Population
from ppdm_sql.groups.hierarchy_levels import says_two_things
from ppdm_sql.groups.high_class import find_ties, unique_untouched_query
from ppdm_sql.groups.linked_rows import (
    linked_k_query,
    linking_column,
    may_link,
    own_values_query,
)
from ppdm_sql.groups.register import cells_of, fewest_query, read_register, write_register
from ppdm_sql.groups.search.cells import behind, code_cells
from ppdm_sql.groups.search.recoding import recode_node, recode_partition, recode_stars
from ppdm_sql.groups.search.stars import suppress_cells
from ppdm_sql.groups.sensitive_values import SensitiveValues
from ppdm_sql.groups.targets import searched
from ppdm_sql.groups.write import write_combinations
from ppdm_sql.release.acceptance import Acceptance, Objection

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp

    from ppdm_sql.groups.compile import Grouping
    from ppdm_sql.groups.search import Problem, Target
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.recoding import Recoding
    from ppdm_sql.names import Name
    from ppdm_sql.release.version import Version


_MOSTLY = 0.9
"""The share of repeated values that are one person's from which a column stands for persons."""
_NOT_THE_SAME = "the source must give the same rows whenever it is read"
_CHANGED = f"write REFRESH RELEASE if rows were deleted or changed since; {_NOT_THE_SAME}"


_COUNT_VALUES = ("l", "entropy_l", "recursive_l")
"""Targets that no class reaches which has fewer values than they say."""


@dataclass(frozen=True)
class Generalizing:
    """GENERALIZE of one version of one release, inside its transaction."""

    version: Version
    on_stage: Callable[[str], None]

    @cached_property
    def _values(self) -> SensitiveValues:
        return SensitiveValues(self.version)

    @property
    def grouping(self) -> Grouping:
        """The clause itself."""
        return grouping_of(self.version)

    def _query(self, query: exp.Select) -> pa.Table:
        return self.version.engine.query(query)

    def write_combinations(self) -> Generalized:
        """Search, and write what every combination is released as."""
        self.on_stage("counting combinations")
        population, coded, cells = self._treated()
        recoding = self._recode(coded)
        if recoding is None:
            raise self._unreachable()
        write_combinations(self.version, cells, coded, recoding)
        if coded.problem.population is not None:
            write_register(self.version, cells, coded, recoding)
        return Generalized(population, coded, recoding)

    def _recode(self, coded: Coded) -> Recoding | None:
        targets, share = self.targets(), self.grouping.share
        if self.grouping.method == "mondrian":
            self.on_stage("cutting the data into regions")
            return recode_partition(coded, search.mondrian(coded.problem, targets, share))
        if self.grouping.suppresses_cells:
            self.on_stage("suppressing cells")
            levels = self._box(coded)[0]
            loss = _loss(self.grouping)
            starred = suppress_cells(coded.problem, targets, share, loss, levels)
            return recode_stars(coded, starred, levels)
        self.on_stage("searching the lattice")
        outcome = search.search_optimal(
            coded.problem,
            targets,
            share,
            _loss(self.grouping),
            on_progress=lambda share: self.on_stage(f"searching the lattice, {share:.0%} settled"),
            box=self._box(coded),
        )
        return recode_node(coded, outcome)

    def _treated(self) -> tuple[Population, Coded, pa.Table]:
        population = self.population()
        register = None if self.grouping.register is None else read_register(self.version)
        return population, *self.coded(population.by_person, register=register)

    def population(self) -> Population:
        """Count rows, treated rows and persons; raise where there is nobody to hide among."""
        self._check_condition()
        row = self._query(queries.persons_query(self.version))
        found = row.to_pylist()[0]
        treated = int(found["treated"] or 0)
        persons = int(found.get("persons", treated))
        if found.get("named", treated) < treated:
            persons += 1  # rows without a KEY may all be about the same person
        population = Population(int(found["rows"]), treated, persons, persons < treated)
        self._check_population(population)
        return population

    def coded(
        self, by_person: bool, only_high: bool = True, register: pa.Table | None = None
    ) -> tuple[Coded, pa.Table]:
        """Return the treated rows, or all, as a problem, and the cells it was made of."""
        query = queries.cells_query(self.version, by_person, only_high)
        cells = self._query(query).combine_chunks()
        count = len(self.grouping.columns)
        fixed = len(fixed_quasi(self.version.release))
        coded = code_cells(
            self.grouping.columns,
            [_column(cells, key_column(i)) for i in range(count)],
            [_column(cells, queries.text_column(i)) for i in range(count)],
            [_column(cells, fixed_column(i)) for i in range(fixed)],
            np.asarray(_column(cells, COUNT), dtype=np.int64),
            self._values.of_cells(cells),
            _column(cells, queries.PERSON) if by_person else None,
            None if register is None else cells_of(self.version, register),
        )
        if register is None:
            return coded, cells
        names = [key_column(i) for i in range(count)] + [fixed_column(i) for i in range(fixed)]
        columns = {name: behind(_column(cells, name), _column(register, name)) for name in names}
        return coded, pa.table(columns)

    def released(self, by_person: bool) -> Problem:
        """Return the treated rows as they are released: every combination is a class."""
        query = queries.released_cells_query(self.version, by_person)
        cells = self._query(query).combine_chunks()
        shown = self._query(queries.labels_query(self.version))
        at = _column(cells, ID)
        return code_cells(
            (),
            (),
            (),
            [column.combine_chunks().take(at) for column in shown.columns],
            np.asarray(_column(cells, COUNT), dtype=np.int64),
            self._values.of_cells(cells),
            _column(cells, queries.PERSON) if by_person else None,
        ).problem

    def minimal_nodes(self) -> search.MinimalNodes:
        """Return every node that reaches the targets while none below it does."""
        _, coded, _ = self._treated()
        return search.list_minimal(
            coded.problem,
            self.targets(),
            self.grouping.share,
            _loss(self.grouping),
            box=self._box(coded),
        )

    def _box(self, coded: Coded) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the lowest and the highest levels that the owner wants."""
        low, high = [], []
        for column, height in zip(self.grouping.columns, coded.problem.heights, strict=True):
            first, last = column.levels or (0, height)
            if last > height:
                raise BindError(
                    f"there is no level {last} of '{column.name}': its levels go from 0 to {height}",
                    column.span,
                    f"write LEVEL {height} for the last one, where everything is *",
                    code="bad_hierarchy",
                )
            low.append(first)
            high.append(last)
        return tuple(low), tuple(high)

    def targets(self) -> tuple[Target, ...]:
        """Return the targets, their columns by number; those of the clause first, in its order."""
        names = [column.name for column in self.grouping.sensitive]
        found = [searched(one, names, self._values.chosen(one)) for one in self.grouping.targets]
        if any(target.clause.word == "kpqr" for target in self.grouping.targets):
            found.append(search.K(self.grouping.k))
        return tuple(found)

    def check_chosen(self) -> None:
        """Raise when a target names a value that nobody has: a slip of the pen protects nobody."""
        for target in self.grouping.targets:
            chosen = self._values.chosen(target)
            if chosen is not None and -1 in chosen:
                raise BindError(
                    f"no row of '{target.column.name if target.column else ''}' has the value"
                    f" number {chosen.index(-1) + 1} that alpha names",
                    target.clause.span,
                    "write the values as the source has them, upper and lower case too",
                    code="bad_target",
                )

    def verify(self, population: Population, hint: str = _CHANGED) -> search.Measures:
        """Measure what would leave; raise unless every class reaches every target."""
        self.on_stage("verifying")
        problem = self.released(population.by_person)
        classes = np.arange(len(problem.rows))
        # The register's people are no rows of the release: they are counted in what is stored of it.
        targets = [one for one in self.targets() if not isinstance(one, search.Population)]
        is_reached = search.reached(problem, classes, targets).all()
        if not is_reached or self.fewest_of_register() < self.grouping.k_map:
            raise Refused(
                "what would be released does not reach its targets",
                self.grouping.span,
                hint,
                code="target_missed",
            )
        return search.measure(problem, classes)

    def findings(self, done: Generalized) -> Findings:
        """Verify what would leave; return what it reaches and what it cost."""
        try:
            measures = self.verify(done.population, _NOT_THE_SAME)
        except Refused as error:
            error.hint = self._merged(done.coded) or error.hint
            raise
        plain, alone = None, 0
        if self.grouping.when is not None:
            plain = self._plain(done.population)
            query = unique_untouched_query(self.version)
            alone = int(self._query(query).column(COUNT)[0].as_py())
        ties = tuple(find_ties(self.version))
        linked = self.linked_rows(done.population)
        fewest = self.fewest_of_register() if self.grouping.k_map else None
        return Findings(
            self.grouping, done, measures, plain, alone, ties, self.targets(), fewest, linked
        )

    def fewest_of_register(self) -> int:
        """Return how many persons of the register the smallest class fits; 0 without one."""
        if not self.grouping.k_map:
            return 0
        found = self._query(fewest_query(self.version)).column(COUNT)[0].as_py()
        return self.grouping.k_map if found is None else int(found)  # of no class, all are large

    def linked_rows(self, population: Population) -> LinkedRows | None:
        """Count the persons who show the same in all their rows; None where nothing links them."""
        if not population.by_person or self.grouping.person is None:
            return None
        column = linking_column(self.version.release) or self._column_of_persons()
        if column is None:
            return None
        found = self._query(linked_k_query(self.version)).column(COUNT)[0].as_py()
        return LinkedRows(column, int(found or 0))

    def _column_of_persons(self) -> Name | None:
        """Return a released column whose repeated values are each one person's, nearly always."""
        for name in may_link(self.version.release):
            (row,) = self._query(own_values_query(self.version, name)).to_pylist()
            repeated, own = int(row["repeated"] or 0), int(row["own"] or 0)
            if repeated and own >= _MOSTLY * repeated:
                return name
        return None

    def linking_objection(self, linked: LinkedRows | None) -> Objection | None:
        """Return what speaks against a release in which all rows of a person show too much."""
        k = self.grouping.k
        if linked is None or linked.k >= k:
            return None
        return Objection(
            Acceptance("linked_rows"),
            f"'{linked.column}' shows which rows belong to one person: over all rows of a person, the"
            f" smallest class has {plural(linked.k, 'person')}, fewer than k = {k}",
            f"leave '{linked.column}' out (a KEY without a treatment is not released), or release one row per person",
            self.grouping.span,
        )

    def _merged(self, coded: Coded) -> str | None:
        """Say which labels made one class of two: the search counts regions, analysts read texts.

        Only where levels differ from region to region; elsewhere one text means one thing.
        """
        if self.grouping.method != "mondrian":
            return None
        columns = zip(self.grouping.columns, coded.ladders, strict=True)
        names = [f"'{column.name}'" for column, ladder in columns if says_two_things(ladder)]
        if not names:
            return None
        return (
            f"a group of {' and of '.join(names)} is written like another value or group, so that "
            "rows of both are one class; rename it in the hierarchy, or the value in a (SELECT …) "
            "source"
        )

    def _plain(self, population: Population) -> search.SearchResult | None:
        """Return plain k-anonymity of all rows, for comparison; None where it cannot be had."""
        if self.grouping.k > population.rows:
            return None
        self.on_stage("comparing with plain k-anonymity")
        coded, _ = self.coded(population.by_person, only_high=False)
        outcome = search.search_optimal(
            coded.problem,
            (search.K(self.grouping.k),),
            self.grouping.share,
            "precision",
            time_limit_s=10,
        )
        return outcome if outcome.levels is not None else None

    def _check_condition(self) -> None:
        """Raise when our reading of WHEN is not DuckDB's own, on any row of the source."""
        when = self.grouping.when
        if when is None:
            return
        try:
            found = self._query(queries.condition_query(self.version))
        except EngineError as error:
            error.what = f"this condition cannot be evaluated on the source: {error.what}"
            raise error.at(when.span) from None
        if found.column(COUNT)[0].as_py():
            raise BindError(
                "DuckDB and the release read this condition differently",
                when.span,
                "compare each column with values of its own type, with CAST where needed",
                code="bad_condition",
            )

    def _check_population(self, population: Population) -> None:
        k = self.grouping.k
        if population.rows == 0:
            return  # of nobody, every class is large enough; a refresh searches again
        if population.treated == 0:
            raise BindError(
                "no row of the source is to be generalized",
                self.grouping.when.span if self.grouping.when else self.grouping.span,
                code="no_rows",
            )
        if population.persons < k:
            who = "persons" if self.grouping.person is not None else "rows"
            raise Refused(
                f"fewer than k = {k} {who} are to be generalized",
                self.grouping.span,
                "lower k, or widen WHEN",
                code="too_few_persons",
            )

    def _unreachable(self) -> Refused:
        fixed = [str(name) for name, _ in fixed_quasi(self.version.release)]
        targets = ", ".join(str(target) for target in self.grouping.targets)
        hint = "lower the targets, or allow more rows to be suppressed"
        if any(column.levels is not None for column in self.grouping.columns):
            hint += "; LEVEL may be too low: EXPLAIN HIERARCHIES lists what is possible without it"
        for target in self.grouping.targets:
            if target.column is not None and target.clause.word in _COUNT_VALUES:
                found = len(self._values.reference(target.column))
                if found < target.clause.value:
                    hint = f"'{target.column.name}' has {plural(found, 'value')} in all: no class has more"
        if fixed:
            hint += f"; these QUASI columns are not generalized and split the classes: {', '.join(fixed)}"
        return Refused(
            f"no generalization reaches {targets} with at most "
            f"{self.grouping.share * 100:g} percent"
            f"{' of the cells' if self.grouping.suppresses_cells else ''} suppressed",
            self.grouping.span,
            hint,
            code="target_missed",
        )


def _loss(grouping: Grouping) -> search.Loss:
    return "ilm" if grouping.loss == "ilm" else "precision"


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.combine_chunks()
