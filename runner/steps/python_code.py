"""Python that people write in a step: read, checked, and put into the program as it is."""

import ast
import io
import keyword
import tokenize

MAX_CODE = 20_000


def read_code(text: str, kind: type[ast.FunctionDef] | type[ast.ClassDef]) -> str:
    """The name of the one top-level function or class in a text of Python.

    Raises ValueError with a sentence where the text is no Python or has not exactly one.
    """
    if len(text) > MAX_CODE:
        raise ValueError(f"The code may be {MAX_CODE:,} characters long.")
    what = "function" if kind is ast.FunctionDef else "class"
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"This is no Python: {error.msg}, line {error.lineno}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise ValueError("This is no Python that can be read; look for odd characters.") from None
    found = [node for node in tree.body if isinstance(node, kind)]
    if len(found) != 1:
        raise ValueError(f"Write one {what} at the top level; here are {len(found)}.")
    try:
        (whole,) = ast.parse(inside("code", text, "None")).body
        compile(ast.Module([whole], []), "<step>", "exec")
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"This can't stand inside a function, as it will: {error}.") from None
    return found[0].name


def methods(text: str) -> dict[str, int]:
    """How many arguments each method of the class takes, `self` left out."""
    tree = ast.parse(text)
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        node.name: len(node.args.posonlyargs) + len(node.args.args) - 1
        for node in found.body
        if isinstance(node, ast.FunctionDef)
    }


def arguments(text: str) -> int:
    """How many arguments the function can't be called without."""
    tree = ast.parse(text)
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return len(found.args.posonlyargs) + len(found.args.args) - len(found.args.defaults)


def inside(name: str, text: str, returned: str) -> str:
    """The code as the body of a function `name`, so that its names meet no others."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise AssertionError(f"{name} can't name a function")
    return f"def {name}():\n{_indented(text)}\n    return {returned}\n"


def _indented(text: str) -> str:
    """Indented by four, but not within texts of several lines, whose value would change."""
    within: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        multiline = token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
        if multiline and token.start[0] < token.end[0]:
            within |= set(range(token.start[0] + 1, token.end[0] + 1))
    return "\n".join(
        line if i in within or not line.strip() else f"    {line}"
        for i, line in enumerate(text.split("\n"), start=1)
    )
