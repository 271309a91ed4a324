"""The map of the modules, drawn from their imports and compared with DESIGN.md."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

from thrall_py import cli

ROOT = Path(__file__).parent.parent
PACKAGE = "thrall_py"
FILES = {
    path.relative_to(ROOT / PACKAGE).as_posix(): ast.parse(path.read_text())
    for path in sorted((ROOT / PACKAGE).rglob("*.py"))
}
# Each row: a module, what it is, and the modules of others that nobody else imports.
ROWS = re.findall(
    r"^\| `([a-z_/]+\.py)` \| [^|]+ \| ?([^|]*?) ?\|$",
    (ROOT / "DESIGN.md").read_text(),
    re.MULTILINE,
)
ORDER = [name for name, _ in ROWS]
SOLE = {module: name for name, cell in ROWS for module in re.findall(r"`([\w.]+)`", cell)}
SHARED = {
    "click": {
        "cli.py",
        "options.py",
        *(f"commands/{verb}.py" for verb in cli.VERBS),
    },
    "pickle": {"transport/aside.py", "transport/workers.py"},
    "socket": {
        "gateway/front/address.py",
        "transport/aside.py",
        "transport/http/link.py",
        "transport/http/route.py",
    },
    "h11": {"gateway/front/connections.py", "transport/http/connection.py"},
    "hmac": {"gateway/front/gate.py", "gateway/relay/sealing.py"},
    "starlette": {"gateway/front/asgi.py", "gateway/front/posts.py", "gateway/front/streams.py"},
    "uvicorn": {"gateway/front/connections.py", "gateway/front/http.py"},
    "select": {
        "transport/aside.py",
        "transport/http/waiting.py",
        "transport/process.py",
        "transport/screen.py",
        "transport/spawn.py",
        "transport/stdio.py",
        "transport/workers.py",
    },
    "termios": {"transport/process.py", "transport/screen.py", "transport/stdio.py"},
    "signal": {
        "__main__.py",
        "gateway/front/stopping.py",
        "transport/aside.py",
        "transport/descendants.py",
        "transport/interrupts.py",
        "transport/process.py",
        "transport/spawn.py",
        "transport/workers.py",
    },
}
# A module imports from its own layer and from those before it; of packages, the names.
LAYERS = (
    {"__init__.py", "errors.py", "redact.py", "visible.py"},
    {"protocol"},
    {"catalog", "output"},
    {"transport"},
    {"verbs"},
    {"gateway"},
    {"options.py"},
    {"commands"},
    {"cli.py"},
    {"__main__.py"},
)
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


IMPORTED = {name: set(imported(tree)) for name, tree in FILES.items()}
MAP = {
    name: {file for module in modules if (file := file_of(module))}
    for name, modules in IMPORTED.items()
}


def importers(module):
    return {
        name
        for name, modules in IMPORTED.items()
        if any(found.partition(".")[0] == module for found in modules)
    }


def test_the_design_has_a_row_for_each_module_and_no_other():
    modules = [name for name in FILES if Path(name).name != "__init__.py"]
    assert sorted(ORDER) == sorted(modules)


@pytest.mark.parametrize("name", ORDER)
def test_a_module_imports_from_rows_above_its_own(name):
    below = ORDER[ORDER.index(name) + 1 :]
    assert MAP[name].intersection(below) == set()


def layer(name):
    return next(place for place, held in enumerate(LAYERS) if name.partition("/")[0] in held)


def test_every_module_belongs_to_a_layer():
    assert {name.partition("/")[0] for name in FILES} == set().union(*LAYERS)


@pytest.mark.parametrize("name", FILES)
def test_a_module_imports_from_its_own_layer_and_from_those_before_it(name):
    assert {found for found in MAP[name] if layer(found) > layer(name)} == set()


@pytest.mark.parametrize(
    ("uses", "modules"),
    [
        ({"fork", "forkpty"}, {"transport/forking.py"}),
        ({"_exit"}, {"__main__.py", "transport/forking.py"}),
    ],
)
def test_a_process_is_forked_in_one_place_and_ends_at_once_in_two(uses, modules):
    found = {
        name
        for name, tree in FILES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in uses
    }
    assert found == modules


def test_no_import_goes_in_a_circle():
    order = list(graphlib.TopologicalSorter(MAP).static_order())
    assert sorted(order) == sorted(FILES)


@pytest.mark.parametrize("module", SOLE)
def test_a_module_of_others_has_the_one_importer_that_the_design_names(module):
    assert importers(module) == {SOLE[module]}


def test_the_design_names_the_importers_of_what_is_dangerous_or_heavy():
    assert {"_ctypes", "hashlib", "rich"} <= SOLE.keys()


@pytest.mark.parametrize("module", SHARED)
def test_what_several_may_import_has_these_importers(module):
    assert importers(module) == SHARED[module]


def test_asyncio_is_at_home_in_the_gateway_and_nowhere_else():
    assert {name.partition("/")[0] for name in importers("asyncio")} == {"gateway"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_short_and_says_what_it_is(name):
    text = (ROOT / PACKAGE / name).read_text()
    assert text.count("\n") <= LONGEST
    assert ast.get_docstring(FILES[name])


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("/__init__.py")])
def test_a_package_holds_nothing_but_what_it_is(name):
    assert [type(node) for node in FILES[name].body] == [ast.Expr]
