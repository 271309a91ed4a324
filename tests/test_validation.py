import sys

import pytest

from thrall_py.catalog import validation
from thrall_py.catalog.entry import pin_item
from thrall_py.errors import InputError, UsageError
from thrall_py.protocol import jsontext

UNUSABLE = "^the pinned inputSchema cannot be used to validate: "
UNUSABLE_INPUT = "^the input cannot be used to validate: "


def tool(schema):
    """A tool with the JSON text of a schema."""
    return pin_item({"name": "t", "inputSchema": jsontext.load(schema)})


def faults(arguments, schema):
    return list(validation.find_faults(tool(schema), arguments))


def of_a(schema):
    return f'{{"type":"object","properties":{{"a":{schema}}}}}'


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (of_a('{"type":"string"}'), '{"a":"x"}'),
        (of_a('{"type":"string"}'), "{}"),
        (of_a('{"type":"string"}'), '{"b":1}'),
        (of_a('{"type":"integer"}'), '{"a":1.0}'),
        (of_a('{"minimum":0.5,"default":0.7}'), '{"a":0.5}'),
        (of_a('{"format":"date"}'), '{"a":"no date"}'),
        (of_a('{"pattern":"^[a-z]+$"}'), '{"a":"abc"}'),
        ('{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}', "{}"),
        ("true", '{"a":1}'),
        ("null", '{"a":1}'),
        ("[]", '{"a":1}'),
        ("{}", '{"a":1}'),
    ],
)
def test_what_fits_has_no_fault(schema, arguments):
    assert faults(arguments, schema) == []


def test_without_a_schema_everything_fits():
    assert list(validation.find_faults(pin_item({"name": "t"}), '{"a":1}')) == []


@pytest.mark.parametrize(
    ("schema", "arguments", "place"),
    [
        (of_a('{"type":"string"}'), '{"a":1}', "a: "),
        (of_a('{"items":{"maximum":5}}'), '{"a":[1,6]}', "a/1: "),
        ('{"required":["a\\u001b"]}', "{}", "the arguments: "),
        ("false", "{}", "the arguments: "),
        (of_a('{"pattern":"^[a-z]+$"}'), '{"a":"A"}', "a: "),
        (of_a('{"type":"integer"}'), '{"a":true}', "a: "),
    ],
)
def test_a_fault_is_a_sentence_with_its_place(schema, arguments, place):
    (fault,) = faults(arguments, schema)
    assert fault.startswith(place)
    assert fault.isprintable()


def test_each_fault_is_named():
    schema = '{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["c"]}'
    assert len(faults('{"a":1,"b":2}', schema)) == 3


@pytest.mark.parametrize(
    "schema", ['{"type":"integer"}', '{"enum":["a"]}', '{"maxLength":3}', '{"pattern":"^x"}']
)
def test_the_value_itself_is_not_repeated(schema):
    (fault,) = faults('{"a":"hunter22"}', of_a(schema))
    assert "hunter22" not in fault


def test_a_long_fault_is_cut():
    (fault,) = faults("{}", f'{{"required":["{"x" * 1000}"]}}')
    assert len(fault) == 300


@pytest.mark.parametrize(
    ("schema", "arguments", "fits"),
    [
        ('{"const":9007199254740993}', '{"a":9007199254740993}', True),
        ('{"const":9007199254740993}', '{"a":9007199254740992}', False),
        ('{"maximum":9007199254740992}', '{"a":9007199254740993}', False),
        ('{"maximum":123456789012345678901234567890}', '{"a":123456789012345678901234567891}', False),
        ('{"maximum":123456789012345678901234567890}', '{"a":123456789012345678901234567890}', True),
        ('{"multipleOf":0.1}', '{"a":0.3}', True),
        ('{"multipleOf":0.1}', '{"a":0.35}', False),
        ('{"maximum":1e300}', '{"a":1e400}', False),
        ('{"maximum":1e400}', '{"a":1e300}', True),
        ('{"const":1}', '{"a":1.0}', True),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_they_are_written(schema, arguments, fits):
    assert (faults(arguments, of_a(schema)) == []) is fits


@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"no such type"}',
        '{"required":"a"}',
        of_a('{"pattern":"("}'),
        of_a("5"),
        '{"$ref":"#/nowhere"}',
        '{"$ref":"https://example.com/schema.json"}',
        '{"$ref":"file:///etc/passwd"}',
        '{"$schema":"https://example.com/schema.json"}',
        r'{"enum":["\ud800"]}',
    ],
)
def test_a_schema_of_no_use_is_refused_and_nothing_is_fetched(schema):
    with pytest.raises(InputError, match=UNUSABLE):
        faults('{"a":"x"}', schema)


def test_a_schema_of_no_use_does_not_act_on_a_terminal():
    with pytest.raises(InputError) as refused:
        faults("{}", '{"$ref":"https://example.com/\\u001b\\u202e"}')
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ('{"pattern":"^x"}', r'{"a":"\ud800"}'),
        ('{"maximum":5}', f'{{"a":{"9" * 5000}}}'),
    ],
)
def test_arguments_that_cannot_be_looked_at_are_refused(schema, arguments):
    with pytest.raises(InputError, match=UNUSABLE_INPUT):
        faults(arguments, of_a(schema))


def test_arguments_that_are_nested_deeply_are_refused():
    with pytest.raises(InputError, match=UNUSABLE_INPUT):
        faults(f'{{"a":{"[" * 5000}{"]" * 5000}}}', of_a("{}"))


def test_what_is_not_installed_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(UsageError) as refused:
        faults("{}", "{}")
    assert str(refused.value) == (
        "--validate needs jsonschema-rs, which thrall-py[validate] brings: install that as thrall was"
        " installed, as in pipx install --force 'thrall-py[validate]'"
    )
