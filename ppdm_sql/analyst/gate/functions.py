"""The functions that an analyst may call. A new one is refused until it is listed here.

Left out on purpose: whatever reads files, catalogs, settings or other statements; whatever
changes a state; `… LIKE … ESCAPE`, whose errors tell one value from another; and what makes a
huge value or takes very long in one step (`repeat`, `lpad`, `printf`, `levenshtein`, lists made
by `range`, functions of functions).
"""

from __future__ import annotations

_OPERATORS = "+ - * / // % ** ^ & | << >> ~ || @ ~~ !~~ ~~* !~~* ~~~"
_AGGREGATES = """
    any_value approx_count_distinct approx_quantile arbitrary arg_max arg_min array_agg avg bit_and
    bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp
    entropy favg first fsum geomean geometric_mean group_concat histogram kahan_sum kurtosis
    kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile
    quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy sem skewness stddev stddev_pop stddev_samp string_agg sum var_pop
    var_samp variance wavg weighted_avg
"""
_WINDOWS = """
    row_number rank rank_dense dense_rank percent_rank cume_dist ntile lag lead first_value
    last_value nth_value
"""
_NUMBERS = """
    abs acos acosh asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees
    divide even exp fdiv floor fmod gamma gcd greatest isfinite isinf isnan lcm least lgamma ln log
    log10 log2 mod multiply pi pow power radians random round round_even sign signbit sin sinh sqrt
    subtract add tan tanh trunc xor
"""
_TEXTS = """
    ascii bit_length char_length character_length chr concat concat_ws contains ends_with hash
    instr lcase left len length lower ltrim md5 ord position prefix regexp_extract
    regexp_full_match regexp_matches regexp_replace replace reverse right rtrim split split_part
    starts_with str_split strip_accents string_split strlen strpos substr substring suffix translate
    trim ucase unicode upper
"""
_TIMES = """
    age century current_date current_time current_timestamp date_add date_diff date_part date_sub
    date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear
    days_in_month decade epoch epoch_ms epoch_ns epoch_us era get_current_time
    get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp
    microsecond millennium millisecond minute month monthname now quarter second strftime strptime
    time_bucket timezone to_centuries to_days to_decades to_hours to_microseconds to_millennia
    to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
    try_strptime week weekday weekofyear year yearweek
"""
_VALUES = """
    array_contains array_extract array_length cardinality coalesce element_at if ifnull list_contains
    list_extract list_position list_value map map_extract map_keys map_values nullif row
    struct_extract struct_pack typeof unnest
"""

FUNCTIONS = frozenset(
    " ".join((_OPERATORS, _AGGREGATES, _WINDOWS, _NUMBERS, _TEXTS, _TIMES, _VALUES)).split()
)
"""Scalar, aggregate and window functions, and operators, as DuckDB's parse names them."""

TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
"""Functions that may stand behind FROM."""
