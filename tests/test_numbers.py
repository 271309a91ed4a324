import pytest

from thrall_py.protocol.numbers import ExactNumber, number

SAME = {
    "0": (0, ["0", "-0", "0.0", "0e5", "-0.000E-7", "0e999999999"]),
    "1": (1, ["1", "1.0", "1e0", "10e-1", "0.1E+1", "0.0001e4"]),
    "-1": (-1, ["-1", "-1.0", "-10E-1"]),
    "1000": (1000, ["1000", "1e3", "1.000e+3", "1000.000"]),
    "above 2**53": (9007199254740993, ["9007199254740993", "9007199254740993.0"]),
    "above 2**64": (18446744073709551616, ["18446744073709551616", "1844674407370955161.60e1"]),
    "a tenth": (ExactNumber("0.1"), ["0.1", "0.10", "1e-1", "100E-3"]),
    "less than zero": (ExactNumber("-1.25"), ["-1.25", "-125e-2", "-0.1250e1"]),
    "beyond a float": (ExactNumber("1e400"), ["1e400", "10e399", "0.1E401"]),
    "below a float": (ExactNumber("1.5e-400"), ["1.5e-400", "15e-401"]),
}


@pytest.mark.parametrize(("value", "literals"), SAME.values(), ids=SAME)
def test_spellings_of_one_value_are_one_value(value, literals):
    assert [number(literal) for literal in literals] == [value] * len(literals)


@pytest.mark.parametrize(
    ("literal", "other"),
    [
        ("9007199254740992", "9007199254740993"),
        ("0.1", "0.1000000000000000055"),
        ("1e400", "1e401"),
    ],
)
def test_neighbours_stay_two_values(literal, other):
    assert number(literal) != number(other)


@pytest.mark.parametrize(
    ("literal", "spelling"),
    [
        ("0." + "0" * 39 + "1", "0." + "0" * 39 + "1"),
        ("0." + "0" * 40 + "1", "1e-41"),
        ("1." + "1" * 39, "1." + "1" * 39),
        ("1." + "1" * 40, "1." + "1" * 40 + "e0"),
        ("1" * 41, "1." + "1" * 40 + "e40"),
        ("1" + "0" * 40, "1e40"),
        ("-12.5e300", "-1.25e301"),
    ],
)
def test_a_number_of_more_than_forty_digits_is_written_with_an_exponent(literal, spelling):
    assert number(literal) == ExactNumber(spelling)


def test_an_integer_of_forty_digits_is_an_int():
    assert number("9" * 40) == int("9" * 40)
    assert number("1e39") == 10**39


def test_a_number_may_have_a_thousand_characters_and_no_more():
    assert number("1" * 1000) == ExactNumber("1." + "1" * 999 + "e999")
    assert number("1e" + "9" * 998) == ExactNumber("1e" + "9" * 998)
    with pytest.raises(ValueError, match=r"^a number of 1001 characters$"):
        number("1" * 1001)
