"""Spark SQL expressions as people write them: what is allowed, and what is emitted.

An expression is read into sqlglot's tree, every node of which must be on a list here; what
reaches Spark is written anew from that tree, never the text itself.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

MAX_LENGTH = 4096
MAX_DEPTH = 50
MAX_NODES = 2000
# array_repeat(1, 2e8) ends a JVM of 700 MB.
MAX_REPEATS = 10_000
# Calls that give another value each time.
_CHANCE = re.compile(r"\b(rand|randn|random|randstr|shuffle|uniform|uuid)\s*\(", re.IGNORECASE)
# Functions whose first of three arguments may be a unit, which is written like a column.
_WITH_UNIT = {"dateadd", "date_add", "datediff", "date_diff", "timestampadd", "timestampdiff"}


class NotAllowed(ValueError):
    """The text is no expression that may run; the message says why and what to do."""


class _Expressions(Spark):
    """Spark's dialect, reading each function as it is written, so that none is rewritten."""

    class Tokenizer(Spark.Tokenizer):
        # Spark 4 reads '' inside a string as one quote.
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        # Else array(1, 2)[0] is taken for the type array and loses its elements.
        ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        def not_sql(self, expression: exp.Not) -> str:
            """`a IS NOT NULL` as people write it, not NOT a IS NULL."""
            inner = expression.this
            if not isinstance(inner, exp.Is):
                return str(super().not_sql(expression))
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"


_DIALECT = _Expressions()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    """
    abs acos acosh add_months aggregate array array_append array_compact array_contains
    array_distinct array_except array_insert array_intersect array_join array_max array_min
    array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh base64 between bigint bin
    binary bit_count bit_get bit_length boolean bround btrim cardinality cast cbrt ceil
    ceiling char char_length character_length chr coalesce collate collation
    concat concat_ws contains conv convert_timezone cos cosh cot crc32 csc curdate
    current_date current_timestamp current_timezone date date_add date_diff date_format
    date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname
    dayofmonth dayofweek dayofyear decimal decode degrees double e element_at elt encode
    endswith equal_null exists exp expm1 extract factorial filter find_in_set flatten float
    floor forall format_number format_string from_csv from_json from_unixtime
    from_utc_timestamp get get_json_object getbit greatest hash hex hour hypot if ifnull
    ilike initcap instr int is_valid_utf8 isnan isnotnull isnull json_array_length
    json_object_keys last_day lcase least left len length levenshtein like ln localtimestamp
    locate log log10 log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval
    make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8
    make_ym_interval map map_concat map_contains_key map_entries map_filter map_from_arrays
    map_from_entries map_keys map_values map_zip_with mask md5 minute mod month monthname
    months_between named_struct nanvl negative next_day not now nullif nullifzero nvl nvl2
    octet_length overlay parse_url pi pmod position positive pow power printf quarter quote
    radians rand randn randstr reduce regexp regexp_count regexp_extract regexp_extract_all
    regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint
    rlike round rpad rtrim schema_of_csv schema_of_json sec second sentences sequence sha
    sha1 sha2 shiftleft shiftright shiftrightunsigned shuffle sign signum sin sinh size
    slice smallint sort_array soundex space split split_part sqrt startswith str_to_map
    string struct substr substring substring_index tan tanh timestamp timestamp_micros
    timestamp_millis timestamp_seconds timestampadd timestampdiff tinyint to_binary to_char
    to_csv to_date to_json to_number to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp to_varchar transform transform_keys transform_values
    translate trim trunc try_add try_cast try_divide try_element_at try_mod try_multiply
    try_parse_url try_subtract try_to_binary try_to_date try_to_number try_to_timestamp
    try_url_decode try_validate_utf8 typeof ucase unbase64 unhex unix_date unix_micros
    unix_millis unix_seconds unix_timestamp upper url_decode url_encode uuid validate_utf8
    weekday weekofyear width_bucket window_time xpath_string xxhash64 year zeroifnull
    zip_with
    """
)
# Their length argument could take all memory: it must be a literal, and a small one.
_REPEATING = {
    "repeat": (1,),
    "array_repeat": (1,),
    "sequence": (0, 1),
    "space": (0,),
    "lpad": (1,),
    "rpad": (1,),
    "randstr": (0,),
}
_AGGREGATES = _words(
    """
    any any_value approx_count_distinct approx_percentile array_agg avg bool_and bool_or
    collect_list collect_set corr count count_if covar_pop covar_samp every first
    first_value last last_value max max_by mean median min min_by mode percentile
    percentile_approx some std stddev stddev_pop stddev_samp sum try_avg try_sum var_pop
    var_samp variance
    """
)
_GENERATORS = {"explode", "explode_outer", "inline", "inline_outer", "posexplode", "stack"}

_GIVING_MAPS = _words(
    "map str_to_map map_concat map_filter map_from_arrays map_from_entries map_zip_with "
    "transform_keys transform_values"
)

_NODES: tuple[type[exp.Expr], ...] = (
    exp.Alias, exp.Anonymous, exp.And, exp.Or, exp.Not, exp.Paren, exp.Column, exp.Identifier,
    exp.Literal, exp.Boolean, exp.Null, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike,
    exp.RegexpLike, exp.Escape, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod,
    exp.Neg, exp.DPipe, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot,
    exp.Case, exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.ColumnDef,
    exp.Interval, exp.Var, exp.Dot, exp.Bracket, exp.Lambda, exp.Tuple, exp.Concat,
    exp.CurrentTimestamp, exp.CurrentDate, exp.Extract, exp.Substring, exp.Trim, exp.Ceil,
    exp.Floor, exp.Overlay, exp.StrPosition, exp.Decode, exp.DecodeCase, exp.Transform,
    exp.RawString, exp.IntervalSpan, exp.Initcap, exp.Chr,
    exp.BitwiseLeftShift, exp.BitwiseRightShift,
)  # fmt: skip


@lru_cache(maxsize=4096)
def read(text: str) -> exp.Expr:
    """The tree of one allowed expression. Raises NotAllowed with a sentence for its author."""
    if not text.strip():
        raise NotAllowed("Write an expression.")
    tree = _parsed(text)
    _check_nodes(tree)
    return tree


@lru_cache(maxsize=512)
def read_query(text: str) -> exp.Query:
    """The tree of one SELECT over inputs by name. Raises NotAllowed with a sentence.

    It computes, filters, joins and puts together (UNION ALL) the rows of its inputs; what
    looks at many rows has steps of its own.
    """
    if not text.strip():
        raise NotAllowed("Write a SELECT.")
    tree = _parsed(text)
    if not isinstance(tree, exp.Select | exp.Union):
        raise NotAllowed("Write one SELECT … FROM …, with the names of the inputs as tables.")
    _check_nodes(tree, query=True)
    if not inputs_of_query(tree):
        raise NotAllowed("The SELECT reads no input; name one after FROM, such as rows.")
    return tree


def inputs_of_query(tree: exp.Expr) -> tuple[str, ...]:
    """The names after FROM and JOIN, in order, each once."""
    return tuple(dict.fromkeys(table.name for table in tree.find_all(exp.Table)))


def aliases_of_query(tree: exp.Query) -> list[str]:
    """The names that a query gives by AS to something else than a column of that name."""
    return [
        alias.alias
        for alias in tree.find_all(exp.Alias)
        if not (isinstance(alias.this, exp.Column) and alias.this.name == alias.alias)
    ]


def query_template(tree: exp.Query) -> str:
    """A query written anew for PySpark's `spark.sql`, each input as `{name}`."""
    tree = tree.copy()
    for table in list(tree.find_all(exp.Table)):
        alias = table.alias or table.name
        table.set("this", exp.to_identifier(f"headrace input {table.name}", quoted=True))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    text = _written(tree).replace("{", "{{").replace("}", "}}")
    return re.sub(r"`headrace input ((?:[^`]|``)*)`", r"{\1}", text)


def _parsed(text: str) -> exp.Expr:
    if len(text) > MAX_LENGTH:
        raise NotAllowed(f"An expression may be {MAX_LENGTH:,} characters long; split this one.")
    if "${" in text:
        raise NotAllowed("${…} is not replaced in expressions; write the value itself.")
    if any((ord(c) < 32 and c not in "\t\n\r") or 0xD800 <= ord(c) < 0xE000 for c in text):
        raise NotAllowed("The expression has a character that can't be shown; remove it.")
    try:
        tokens = _DIALECT.tokenize(text)
        commented = any(token.comments for token in tokens) or "/*" in _outside_strings(text)
        if commented or not tokens:
            raise NotAllowed("Comments and hints have no place in an expression; remove them.")
        _check_depth(tokens)
        trees = _DIALECT.parser().parse(tokens, text)
    except NotAllowed:
        raise
    except (SqlglotError, RecursionError) as error:
        raise NotAllowed(_sentence(error)) from None
    if len(trees) != 1 or trees[0] is None:
        raise NotAllowed("Write one expression, without a semicolon.")
    return trees[0]


def regenerate(text: str, bindings: Mapping[str, str] | None = None) -> str:
    """An allowed expression, written anew for Spark.

    `bindings` replaces columns by the (already regenerated) expressions they stand for.
    """
    if not bindings:
        return _regenerated(text)
    tree = read(text).copy()
    for column in list(tree.find_all(exp.Column)):
        bound = _binding(column, bindings)
        if bound is not None:
            if column is tree:
                tree = bound
            else:
                column.replace(bound)
    return _written(tree)


@lru_cache(maxsize=4096)
def _regenerated(text: str) -> str:
    return _written(read(text))


def mentions_chance(text: str) -> bool:
    """Whether a text may call a function that gives another value each time; never falsely not."""
    return _CHANCE.search(text) is not None


@lru_cache(maxsize=4096)
def columns_of(text: str) -> frozenset[str]:
    """The names of the columns an expression reads (of `a.b`, a)."""
    return frozenset(column.parts[0].name for column in _columns(read(text)))


def columns_of_query(tree: exp.Expr) -> set[str]:
    """The names of the columns that a plain SELECT reads, but for those it gives by AS.

    None of a query within another, whose columns may be its own.
    """
    if tree.find(exp.Subquery, exp.With):
        return set()
    tables = {table.alias_or_name.lower() for table in tree.find_all(exp.Table)}
    given = {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    parts = [[part.name for part in column.parts] for column in _columns(tree)]
    names = {p[1] if len(p) > 1 and p[0].lower() in tables else p[0] for p in parts}
    return {name for name in names if name.lower() not in given}


def _columns(tree: exp.Expr) -> Iterator[exp.Column]:
    """Every column in a tree; the unit of `timestampadd(MINUTE, …)` and its like is none."""
    for column in tree.find_all(exp.Column):
        if not _is_unit(column):
            yield column


def _is_unit(column: exp.Column) -> bool:
    call = column.parent
    if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in _WITH_UNIT:
        return False
    return column is call.expressions[0] and len(call.expressions) == 3


def gives_map(text: str, types: Mapping[str, str | None]) -> bool:
    """Whether an expression is plainly a map: a column declared as one, or a map function."""
    tree = read(text)
    if isinstance(tree, exp.Column) and len(tree.parts) == 1:
        return (types.get(tree.name) or "").lower().startswith("map<")
    if isinstance(tree, exp.Cast | exp.TryCast):
        return bool(tree.to.this == exp.DataType.Type.MAP)
    name = tree.name.lower() if isinstance(tree, exp.Anonymous) else ""
    return name in _GIVING_MAPS


@lru_cache(maxsize=4096)
def read_type(text: str) -> str:
    """A Spark type as Spark writes it (`array<struct<a:int>>`). Raises NotAllowed."""
    if len(text) > MAX_LENGTH or text.count("<") > MAX_DEPTH:
        raise NotAllowed("This type is too deep; take the parts out in a step of their own.")
    try:
        (cast,) = _DIALECT.parse(f"CAST(NULL AS {text})")
    except (SqlglotError, ValueError, RecursionError):
        cast = None
    tree = cast.to if isinstance(cast, exp.Cast) and isinstance(cast.this, exp.Null) else None
    if tree is None or any(
        type(node) not in _TYPE_NODES
        or (isinstance(node, exp.DataType) and node.this not in _TYPES)
        for node in tree.walk()
    ):
        raise NotAllowed(
            f"{text} is no type. Types are string, int, bigint, double, decimal(10,2), boolean, "
            "timestamp, date, binary, array<…>, map<…,…> and struct<name:type>."
        )
    written = _TYPE_WORD.sub(lambda word: word[0].lower(), _written(tree))
    return written if "`" in written else written.replace(": ", ":").replace(", ", ",")


_TYPE_WORD = re.compile(r"\b[A-Z_]+\b(?=[<(,>)]|$)")
_TYPE_NODES = (exp.DataType, exp.DataTypeParam, exp.Literal, exp.ColumnDef, exp.Identifier)
_TYPES = {
    getattr(exp.DataType.Type, name)
    for name in _words(
        "BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL TEXT VARCHAR CHAR BINARY DATE "
        "TIMESTAMP TIMESTAMPNTZ TIMESTAMPLTZ TIMESTAMPTZ ARRAY MAP STRUCT"
    )
}


def quoted(name: str) -> str:
    """A column's name as Spark must read it: in backticks unless it is a plain word."""
    if name.isascii() and name.isidentifier():
        return name
    return "`" + name.replace("`", "``") + "`"


def suggestion(name: str, known: tuple[str, ...] | list[str]) -> str:
    """The end of a sentence about an unknown name: what was perhaps meant, and what there is."""
    lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    if close:
        return f"Did you mean {lower[close[0]]}?"
    plain = [k for k in known if not k.startswith("_")]
    return f"There are: {', '.join(plain[:12])}." if plain else ""


def _written(tree: exp.Expr) -> str:
    return _DIALECT.generate(tree, normalize_functions=False)


def _binding(column: exp.Column, bindings: Mapping[str, str]) -> exp.Expr | None:
    first, *rest = column.parts
    lower = {name.lower(): value for name, value in bindings.items()}
    bound = lower.get(first.name.lower())
    if bound is None:
        return None
    tree: exp.Expr = exp.Paren(this=_DIALECT.parse(bound)[0])
    return exp.Dot.build([tree, *(part.copy() for part in rest)]) if rest else tree


def _outside_strings(text: str) -> str:
    kept, quote = [], ""
    for i, char in enumerate(text):
        if quote:
            if char == quote and text[i - 1] != "\\":
                quote = ""
        elif char in "'\"`":
            quote = char
        else:
            kept.append(char)
    return "".join(kept)


def _check_depth(tokens: list[sqlglot.Token]) -> None:
    depth = 0
    for token in tokens:
        depth += token.text in ("(", "[")
        depth -= token.text in (")", "]")
        if depth > MAX_DEPTH:
            raise NotAllowed(f"The expression is nested more than {MAX_DEPTH} deep; split it.")
    if len(tokens) > MAX_NODES:
        raise NotAllowed("The expression has too many parts; split it over several steps.")


def _check_nodes(tree: exp.Expr, *, query: bool = False) -> None:
    for count, node in enumerate(tree.walk()):
        if count > MAX_NODES:
            raise NotAllowed("The expression has too many parts; split it over several steps.")
        if isinstance(node, exp.Anonymous):
            _check_function(node)
        elif query and type(node) in _QUERY_NODES:
            _check_query_node(node)
        elif isinstance(node, exp.Star):
            raise NotAllowed("* stands for no value here; name the columns.")
        elif isinstance(node, exp.Query | exp.Subquery | exp.Exists):
            raise NotAllowed("A query inside an expression is not allowed; use a join.")
        elif isinstance(node, exp.Window):
            raise NotAllowed("OVER (…) is not allowed here; use an aggregate step with a window.")
        elif isinstance(node, exp.AggFunc):
            raise NotAllowed(f"{node.key} looks at many rows; use it in an aggregate step.")
        elif type(node) not in _NODES:
            raise NotAllowed(f"{node.key.upper()} is not allowed in an expression.")
    if isinstance(tree, exp.Alias):
        raise NotAllowed(f"Leave out AS {tree.alias}; the column's name has a field of its own.")


def _check_query_node(node: exp.Expr) -> None:
    clauses = {
        "group": "GROUP BY belongs into an aggregate step.",
        "having": "HAVING belongs into an aggregate step.",
        "distinct": "DISTINCT belongs into a deduplicate step.",
        "order": "Rows of a stream have no order; leave out ORDER BY.",
        "limit": "A stream has no end; leave out LIMIT.",
        "qualify": "QUALIFY looks at many rows; use an aggregate step.",
        "windows": "WINDOW looks at many rows; use an aggregate step.",
    }
    for clause, message in clauses.items():
        value = node.args.get(clause)
        if value and not (clause == "distinct" and isinstance(node, exp.Union) and value is True):
            raise NotAllowed(message)
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        raise NotAllowed("UNION drops repeats and so looks at many rows; write UNION ALL.")
    allowed = _QUERY_ARGS.get(type(node))
    for name, value in node.args.items():
        if allowed is not None and value and name not in allowed:
            raise NotAllowed(f"{name.replace('_', ' ').upper()} has no place in this SELECT.")
    if isinstance(node, exp.Table) and (not isinstance(node.this, exp.Identifier) or node.db):
        raise NotAllowed("FROM takes the name of an input only.")


# The clauses of a SELECT that `sql` steps may use.
_QUERY_ARGS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from", "from_", "where", "joins", "kind"},
    exp.Union: {"this", "expression", "distinct", "by_name"},
    exp.Join: {"this", "on", "using", "side", "kind"},
    exp.Table: {"this", "alias"},
    exp.Subquery: {"this", "alias"},
}
_QUERY_NODES = {*_QUERY_ARGS, exp.From, exp.Where, exp.TableAlias, exp.Star}


def _check_function(call: exp.Anonymous) -> None:
    name = str(call.this).lower()
    if name in _AGGREGATES:
        raise NotAllowed(f"{name} looks at many rows; use it in an aggregate step.")
    if name in _GENERATORS:
        raise NotAllowed(f"{name} makes several rows of one; use an explode step.")
    if name not in FUNCTIONS:
        hint = suggestion(name, sorted(FUNCTIONS)) if len(name) < 60 else ""
        hint = hint if hint.startswith("Did") else ""
        raise NotAllowed(f"{name} is no function that expressions may call. {hint}".strip())
    for position in _REPEATING.get(name, ()):
        length = call.expressions[position] if position < len(call.expressions) else None
        number = length.this if isinstance(length, exp.Neg) else length
        if not (
            isinstance(number, exp.Literal)
            and not number.is_string
            and float(number.name) <= MAX_REPEATS
        ):
            raise NotAllowed(f"The length in {name} must be a number up to {MAX_REPEATS:,}.")


def _sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "The expression is nested too deep; split it."
    details = getattr(error, "errors", None)
    if details and details[0].get("description"):
        detail = details[0]
        near = (detail.get("highlight") or "").strip()
        at = f" near {near}" if near and len(near) < 40 else ""
        if "<class" in detail["description"]:
            return f"This is no complete expression{at}: something is missing."
        return f"This is no complete expression{at}: {detail['description'].rstrip('.')}."
    return "This is no complete expression; look for a missing quote or parenthesis."
