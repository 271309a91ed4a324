"""Reports for machines: JSON, GitHub workflow commands, JUnit XML, SARIF. Pure, and in ASCII."""

from collections.abc import Callable
from html import escape  # what XML needs; xml.sax would load an HTTP client
from urllib.parse import quote

from thrall_py import __version__
from thrall_py.catalog import report
from thrall_py.catalog.change import CLASSES, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.report import Report
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(reports: list[Report]) -> str:
    """One object: every difference, and what became of every server."""
    differences: list[Json] = [
        {
            "catalog": each.catalog,
            "server": each.server,
            "tool": _masked(difference.tool, each.redact),
            "path": report.pointer(difference.change, each.redact),
            "class": difference.change.kind,
            "change": report.verb(difference.change),
            "fails": each.fails(difference),
            "before": _value(difference.change.before, each),
            "after": _value(difference.change.after, each),
        }
        for each in reports
        for difference in each.differences
    ]
    servers: list[Json] = [
        {
            "catalog": each.catalog,
            "name": each.server,
            "status": _status(each),
            "failure": each.failure,
            "notes": list[Json](each.notes),
        }
        for each in reports
    ]
    return canonical.indented({"differences": differences, "servers": servers})


def as_github(reports: list[Report]) -> str:
    """Workflow commands: an error for what fails, a notice for what passes."""
    lines = []
    for each in reports:
        if each.failure is not None:
            lines.append(_command("error", each, f"{each.server}: {each.failure}"))
        for difference in each.differences:
            level = "error" if each.fails(difference) else "notice"
            lines.append(_command(level, each, f"{each.server}: {_sentence(difference, each)}"))
    return "".join(f"{line}\n" for line in lines)


def as_junit(reports: list[Report]) -> str:
    """A test suite for each server, a test case for each tool and for the server itself."""
    suites = "".join(map(_suite, reports))
    head = '<?xml version="1.0" encoding="US-ASCII"?>\n<testsuites name="thrall check">\n'
    return f"{head}{suites}</testsuites>\n"


def as_sarif(reports: list[Report]) -> str:
    """SARIF 2.1.0: a rule for each class, a result for each difference."""
    results: list[Json] = []
    for each in reports:
        if each.failure is not None:
            results.append(_result(each, "unchecked", "error", f"{each.server}: {each.failure}"))
        for difference in each.differences:
            level = "error" if each.fails(difference) else "note"
            text = f"{each.server}: {_sentence(difference, each)}"
            results.append(_result(each, difference.change.kind, level, text))
    rules: list[Json] = [{"id": name} for name in (*CLASSES, "unchecked")]
    driver: Json = {"name": "thrall", "version": __version__, "rules": rules}
    run: Json = {"tool": {"driver": driver}, "results": results}
    return canonical.indented({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


FORMATS: dict[str, Callable[[list[Report]], str]] = {
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "sarif": as_sarif,
}


def _value(held: Slot | None, each: Report) -> Json:
    return None if held is None else _masked(held.value, each.redact)


def _masked(value: Json, redact: Redactor) -> Json:
    match value:
        case str():
            return redact.mask(value)
        case dict():
            members: dict[str, Json] = {}
            for name, member in value.items():
                shown = redact.mask(name)
                while shown in members:  # two secrets side by side
                    shown += "*"
                members[shown] = _masked(member, redact)
            return members
        case list():
            return [_masked(item, redact) for item in value]
        case bool() | None:
            return value
        case _:
            spelling = str(value)
            masked = redact.mask(spelling)
            return value if masked == spelling else masked


def _status(each: Report) -> str:
    if each.failure is not None:
        return "unchecked"
    if each.has_drifted:
        return "drifted"
    return "as pinned" if not each.differences else "passes"


def _sentence(difference: Difference, each: Report) -> str:
    change = difference.change
    sides = [
        f"{name} {report.shown(held, each.redact)}"
        for name, held in (("before", change.before), ("after", change.after))
        if held is not None
    ]
    where = report.place(difference, each.redact)
    return f"{where}: {change.kind}, {report.verb(change)}; {'; '.join(sides)}"


def _ascii(text: str) -> str:
    return visible(text).encode("ascii", "backslashreplace").decode()


def _command(level: str, each: Report, text: str) -> str:
    file = _ascii(each.catalog).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} file={file}::{_ascii(text).replace('%', '%25')}"


def _suite(each: Report) -> str:
    by_tool: dict[str | None, list[Difference]] = {None: [], **{tool: [] for tool in each.tools}}
    for difference in each.differences:
        by_tool.setdefault(difference.tool, []).append(difference)
    cases = "".join(_case(each, tool, found) for tool, found in by_tool.items())
    failures = sum(any(map(each.fails, found)) for found in by_tool.values())
    errors = int(each.failure is not None)
    counts = f'tests="{len(by_tool)}" failures="{failures}" errors="{errors}"'
    return f"<testsuite name={_attribute(each.server)} {counts}>\n{cases}</testsuite>\n"


def _case(each: Report, tool: str | None, differences: list[Difference]) -> str:
    inside = ""
    if tool is None and each.failure is not None:
        inside += f"<error message={_attribute(each.failure)}/>\n"
    for difference in differences:
        text = _sentence(difference, each)
        if each.fails(difference):
            kind = _attribute(difference.change.kind)
            inside += f"<failure type={kind}>{escape(_ascii(text))}</failure>\n"
        else:
            inside += f"<system-out>{escape(_ascii(text))}</system-out>\n"
    name = _attribute("the server itself" if tool is None else each.redact.mask(tool))
    return f"<testcase classname={_attribute(each.server)} name={name}>{inside}</testcase>\n"


def _attribute(text: str) -> str:
    return f'"{escape(_ascii(text))}"'


def _result(each: Report, rule: str, level: str, text: str) -> Json:
    uri = quote(each.catalog, errors="surrogatepass")
    location: Json = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": _ascii(text)},
        "locations": [location],
    }
