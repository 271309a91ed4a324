"""The map of the modules, drawn from their imports and compared with DESIGN.md."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "thrall_py"
FILES = {
    path.relative_to(ROOT / PACKAGE).as_posix(): ast.parse(path.read_text())
    for path in sorted((ROOT / PACKAGE).rglob("*.py"))
}
# An import points to the left, or stays in its place.
LAYERS = (
    ("__init__.py", "errors.py", "visible.py"),
    ("protocol/",),
    ("catalog/", "output/"),
    ("transport/",),
    ("verbs/",),
    ("options.py",),
    ("cli.py",),
    ("__main__.py",),
)
CONFINED = {
    "base64": {"output/render.py"},
    "click": {"cli.py", "options.py"},
    "ctypes": {"transport/descendants.py"},
    "hashlib": {"protocol/canonical.py"},
    "rich": {"output/pretty.py"},
    "select": {"transport/process.py", "transport/spawn.py", "transport/standard.py"},
    "signal": {
        "__main__.py",
        "transport/descendants.py",
        "transport/interrupts.py",
        "transport/process.py",
    },
    "subprocess": {"transport/spawn.py"},
}
LONGEST = 300  # lines


def imported(tree):
    """The names of the modules that a file imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written from the top"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if file_of(inner) else node.module


def file_of(module):
    """The file of a module of ours; None for any other."""
    if module == PACKAGE:
        return "__init__.py"
    path = module.removeprefix(f"{PACKAGE}.").replace(".", "/")
    if not module.startswith(f"{PACKAGE}."):
        return None
    return next((name for name in (f"{path}.py", f"{path}/__init__.py") if name in FILES), None)


def layer(name):
    return next(
        rank
        for rank, members in enumerate(LAYERS)
        if any(
            name == member or (member.endswith("/") and name.startswith(member))
            for member in members
        )
    )


MAP = {
    name: {file for module in imported(tree) if (file := file_of(module))}
    for name, tree in FILES.items()
}


@pytest.mark.parametrize("name", MAP)
def test_no_import_points_up(name):
    assert {other for other in MAP[name] if layer(other) > layer(name)} == set()


def test_no_import_goes_in_a_circle():
    order = list(graphlib.TopologicalSorter(MAP).static_order())
    assert sorted(order) == sorted(FILES)


@pytest.mark.parametrize("module", CONFINED)
def test_what_is_dangerous_or_heavy_has_its_importers(module):
    importers = {
        name
        for name, tree in FILES.items()
        if any(found.partition(".")[0] == module for found in imported(tree))
    }
    assert importers == CONFINED[module]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_short_and_says_what_it_is(name):
    text = (ROOT / PACKAGE / name).read_text()
    assert text.count("\n") <= LONGEST
    assert ast.get_docstring(FILES[name])


def test_the_design_has_a_row_for_each_module_and_no_other():
    rows = re.findall(r"^\| `([a-z_/]+\.py)` \|", (ROOT / "DESIGN.md").read_text(), re.MULTILINE)
    modules = {name for name in FILES if not name.endswith("__init__.py") and name != "__main__.py"}
    assert len(rows) == len(set(rows))
    assert set(rows) - {"__main__.py"} == modules


def test_the_rows_of_the_design_stand_in_the_order_of_their_layers():
    rows = re.findall(r"^\| `([a-z_/]+\.py)` \|", (ROOT / "DESIGN.md").read_text(), re.MULTILINE)
    ranks = [layer(row) for row in rows]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("/__init__.py")])
def test_a_package_holds_nothing_but_what_it_is(name):
    assert [type(node) for node in FILES[name].body] == [ast.Expr]
