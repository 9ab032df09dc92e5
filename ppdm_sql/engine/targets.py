"""Engines a release can be written for, and what each may be given. Anything else is refused."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

_NEUTRAL: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Subquery, exp.Join, exp.Alias,
        exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Cast, exp.DataType,
        exp.Case, exp.If, exp.And, exp.Or, exp.Not, exp.Is, exp.Paren,
        exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE,
        exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.DPipe,
        exp.SHA2, exp.Substring, exp.Collate, exp.Least, exp.TryCast, exp.Abs, exp.Floor, exp.Mod, exp.IntDiv,
        exp.Interval, exp.Var, exp.DataTypeParam, exp.Translate,
        exp.In, exp.Between, exp.Like, exp.ILike, exp.NullSafeEQ, exp.NullSafeNEQ,
        exp.Lower, exp.Upper, exp.Trim, exp.Coalesce, exp.DateDiff, exp.TimestampTrunc,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SqlTarget:
    """An engine: its dialect, the nodes it may be given, whether it can call our kernels."""

    name: str
    dialect: str
    nodes: frozenset[type[exp.Expr]]
    calls_kernels: bool = False


DUCKDB = SqlTarget(
    "duckdb",
    "duckdb",
    _NEUTRAL
    | {
        exp.Anonymous,
        exp.Array,
        exp.StructExtract,
        exp.Lateral,
        exp.Where,
        exp.Order,
        exp.Ordered,
        exp.Limit,
        exp.Star,
        # Engines differ in the last bit of a logarithm: only for what is promised to 1e-12.
        exp.Ln,
        exp.Sqrt,
        exp.AtTimeZone,
        # What treatments from outside are likely to write.
        exp.Round,
        exp.Ceil,
        exp.Greatest,
        exp.Left,
        exp.Right,
        exp.Length,
        exp.Replace,
        exp.SplitPart,
        exp.Sign,
        exp.Extract,
    },
    calls_kernels=True,
)

TARGETS: dict[str, SqlTarget] = {target.name: target for target in (DUCKDB,)}
