"""JSON that others wait for while it is read."""

import pytest

from thrall_py.protocol import bounded
from thrall_py.protocol.bounded import scan_bounded
from thrall_py.protocol.jsontext import EACH, JsonError, scan

TOO_NESTED = "^made of more than 3 arrays and objects$"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(bounded, "_MOST_NESTED", 3)
    monkeypatch.setattr(bounded, "_MOST_INDEXED", 5)


@pytest.mark.parametrize(
    "text", ["[[],{}]", '{"a":[1,2,3,4,5,6,7]}', '["[[[[[[", "{\\"{{{"]', "12"]
)
def test_what_has_few_parts_is_found_as_ever(text):
    assert scan_bounded(text, {}) == scan(text, {})


@pytest.mark.parametrize("text", ["[[],[],[]]", "[[[[]]]]", '[{"[":{}},{}]'])
def test_too_many_arrays_and_objects_are_refused_wherever_they_are(text):
    with pytest.raises(JsonError, match=TOO_NESTED):
        scan_bounded(text, {})


def test_too_many_strings_are_not_all_looked_at():
    assert scan_bounded('["[","[","[","[["]', {}).end == 18
    with pytest.raises(JsonError, match=TOO_NESTED):
        scan_bounded('["[","[","[","[[[["]', {})


@pytest.mark.parametrize("text", ["[1,2,3,4,5]", '{"a":1,"b":2,"c":3,"d":4,"e":5}'])
def test_too_many_values_are_not_looked_into(text):
    assert scan_bounded(f"[{text}]", {})
    with pytest.raises(JsonError, match="more parts than are looked into"):
        scan_bounded(text, {EACH: {}})


def test_what_is_no_json_is_told_as_ever():
    with pytest.raises(JsonError, match="^not JSON"):
        scan_bounded("[1,", {})
