import pytest

from thrall_py.catalog import change
from thrall_py.catalog.change import BEHAVIOUR, TEXT, Change, Slot, same, slot, unknown
from thrall_py.protocol.numbers import number


def test_every_class_but_the_cosmetic_one_fails():
    assert change.CLASSES == ("breaking", "text", "behaviour", "additive", "cosmetic")
    assert change.FAILING == ("breaking", "text", "behaviour", "additive")


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, "x"])
def test_a_slot_holds_what_stands_under_a_name_even_null(value):
    assert slot({"a": value}, "a") == Slot(value)
    assert slot({"a": value}, "b") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (Slot(None), Slot(None)),
        (Slot(value=True), Slot(value=True)),
        (Slot("x"), Slot("x")),
        (Slot(number("1.0")), Slot(1)),
        (Slot(number("1e400")), Slot(number("10e399"))),
        (Slot({"a": 1, "b": [2]}), Slot({"b": [2], "a": 1})),
        (Slot([]), Slot([])),
        (Slot({}), Slot({})),
    ],
)
def test_what_has_one_value_is_the_same(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, Slot(None)),
        (Slot(None), Slot(value=False)),
        (Slot(value=True), Slot(1)),
        (Slot(value=False), Slot(0)),
        (Slot({"a": True}), Slot({"a": 1})),
        (Slot([1]), Slot([True])),
        (Slot(1), Slot("1")),
        (Slot([]), Slot({})),
        (Slot([1, 2]), Slot([2, 1])),
        (Slot([1]), Slot([1, 1])),
        (Slot({"a": 1}), Slot({"b": 1})),
        (Slot({"a": 1}), Slot({"a": 1, "b": 1})),
        (Slot(2**63), Slot(2**63 - 1)),
        (Slot(number("0.1")), Slot(number("0.10000000000000001"))),
        (Slot("e\u0301"), Slot("\xe9")),
        (Slot("x"), Slot("x ")),
        (Slot("x"), Slot("x\u200b")),
    ],
)
def test_what_has_two_values_is_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize(
    "held", [Slot(""), Slot("x"), Slot({"a": 1}), Slot([1, ["x"]]), Slot([{"a": 1}])]
)
def test_what_nobody_knows_is_text_where_text_stands_on_a_side(held):
    assert unknown(("a",), None, held) == Change(("a",), TEXT, None, held)
    assert unknown(("a",), held, Slot(1)) == Change(("a",), TEXT, held, Slot(1))


@pytest.mark.parametrize("value", [None, True, 0, number("1e99"), [], {}, [1, [None, {}]]])
def test_what_nobody_knows_is_behaviour_without_any_text(value):
    assert unknown((), Slot(value), None) == Change((), BEHAVIOUR, Slot(value), None)
