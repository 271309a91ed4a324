"""Judges the reports for machines. Each function lists what is wrong with one."""

import json
import re
import xml.etree.ElementTree as ET

COMMANDS = re.compile("::(error|warning|notice|debug|group|endgroup)[ :]")


def of_github(out, fails):
    lines = [line.strip() for line in out.splitlines() if line.strip().startswith("::")]
    errors = [line for line in lines if re.match("::error[ :]", line)]
    yield from (f"a foreign command: {line}" for line in lines if not COMMANDS.match(line))
    if bool(errors) != fails:
        yield f"{len(errors)} errors"


def of_junit(out, fails):
    root = ET.fromstring(out.encode())
    if root.tag not in ("testsuites", "testsuite") or root.find(".//testcase") is None:
        yield f"no suite with a case, but {root.tag}"
    failures = list(root.iter("failure"))
    if bool(failures) != fails:
        yield f"{len(failures)} failures"


def of_sarif(out, fails):
    report = json.loads(out)
    results = report["runs"][0]["results"]
    if report["version"] != "2.1.0":
        yield f"version {report['version']}"
    if not all(each["ruleId"] and each["message"]["text"] for each in results):
        yield "a result without a rule or a message"
    levels = [each.get("level", "warning") for each in results]
    if any(level in ("error", "warning") for level in levels) != fails:
        yield f"levels {levels}"


FORMATS = {"github": of_github, "junit": of_junit, "sarif": of_sarif}
