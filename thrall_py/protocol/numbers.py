"""JSON numbers by their exact value, without rounding and without a limit on their size.

A float would make neighbours equal (2**53 and 2**53 + 1) and 1e400 infinite. `decimal` would do
the work of half this file and costs every start 3 ms.
"""

import re
from typing import NamedTuple

_LONGEST = 1000  # characters of a number; more is an attack on whoever computes with it
_PLAIN = 40  # digits up to which a number is written without an exponent
_NUMBER = r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?"


class ExactNumber(NamedTuple):
    """A number that is no `int`: by its one spelling, so that equal means the same value."""

    spelling: str

    def __str__(self) -> str:  # type: ignore[explicit-override]  # @override is of 3.12
        return self.spelling


def number(literal: str) -> int | ExactNumber:
    """Read a JSON number: `1.0`, `1e0` and `1` are one value, `0.1` and `0.10` another.

    Raises:
        ValueError: it has more than 1,000 characters.

    """
    if len(literal) > _LONGEST:
        raise ValueError(f"a number of {len(literal)} characters")
    found = re.fullmatch(_NUMBER, literal)
    assert found, "the JSON scanner hands over numbers only"
    sign, whole, fraction, power = found[1], found[2], found[3] or "", int(found[4] or 0)
    digits = (whole + fraction).lstrip("0")
    exponent = power - len(fraction)
    significant = digits.rstrip("0")
    exponent += len(digits) - len(significant)
    if not significant:
        return 0
    if exponent >= 0 and len(significant) + exponent <= _PLAIN:
        return int(sign + significant + "0" * exponent)
    return ExactNumber(sign + _spelling(significant, exponent))


def _spelling(digits: str, exponent: int) -> str:
    if exponent < 0 and max(len(digits), -exponent) <= _PLAIN:
        padded = digits.rjust(1 - exponent, "0")
        return f"{padded[:exponent]}.{padded[exponent:]}"
    exponent += len(digits) - 1
    return digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{exponent}"
