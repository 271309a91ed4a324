"""Whether an address is one that a pinned template makes (RFC 6570). Pure.

A template says which addresses a server was pinned with, so what a variable may stand for is taken
narrowly: a plain one holds no slash. The work is linear in the address, whoever wrote the two.
"""

import re

_LONGEST = 8192  # characters of an address
_EXPRESSION = re.compile(r"\{([+#./;?&]?)[^{}]*\}")
# By operator: the characters that its expansion never has (RFC 6570, section 3.2.1).
_NEVER = {"+": "", "#": "", "?": "#", "&": "#", "/": "?#"}
_PLAIN = "/?#"
# What no expansion has without an escape: controls would begin another line in a log or a command,
# and a server may take braces for a template again.
_IN_NO_ADDRESS = re.compile(r"[\x00-\x1f\x7f-\x9f{}\u2028\u2029]")


def matches(template: str, uri: str) -> bool:
    """Tell whether the variables of `template` can have values that make it `uri`."""
    if len(uri) > _LONGEST or _IN_NO_ADDRESS.search(uri):
        return False
    ends, at = {0}, 0  # where the parts so far may end
    for expression in _EXPRESSION.finditer(template):
        ends = _behind(template[at : expression.start()], uri, ends)
        if not ends:
            return False
        ends = _within(_NEVER.get(expression[1], _PLAIN), uri, ends)
        at = expression.end()
    return len(uri) in _behind(template[at:], uri, ends)


def _behind(literal: str, uri: str, starts: set[int]) -> set[int]:
    return {start + len(literal) for start in starts if uri.startswith(literal, start)}


def _within(never: str, uri: str, starts: set[int]) -> set[int]:
    """Every place that is reached from one of `starts` over other characters than `never`."""
    reached, is_open = set(), False
    for place in range(len(uri) + 1):
        is_open = place in starts or (is_open and uri[place - 1] not in never)
        if is_open:
            reached.add(place)
    return reached
