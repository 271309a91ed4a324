"""What changed between two schemas: a row is before, after, and `path class-in class-out` of each."""

import pytest

from thrall_py.catalog import schema
from thrall_py.catalog.change import Slot
from thrall_py.protocol.numbers import number

STR, INT, NUM = {"type": "string"}, {"type": "integer"}, {"type": "number"}
NARROWS, WIDENS, EITHER = "breaking additive", "additive breaking", "breaking breaking"
TEXT, SHOWN, ACTS = "text text", "cosmetic cosmetic", "behaviour behaviour"
GROWS = "additive additive"

LOWER = ("exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum")
UPPER = ("exclusiveMaximum", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum")
LIMITS = ("const", "dependentRequired", "format", "multipleOf", "pattern", "uniqueItems")
OPAQUE = ("minContains", "$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema")
OPEN = ("additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties")
CONDITIONS = ("contains", "else", "if", "not", "propertyNames", "then")


def found(before, after, flow):
    changes = schema.compare((), before, after, flow)
    return [("/".join(change.path), change.kind) for change in changes]


def props(**properties):
    return {"properties": properties}


def deep(levels, end):
    return {"items": deep(levels - 1, end)} if levels else end


SAME = [
    (True, True),
    (None, None),
    ("x", "x"),
    ({"type": "string", "x": 1}, {"x": 1, "type": "string"}),
    ({"minimum": number("1.0")}, {"minimum": number("1e0")}),
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    (props(a={"required": ["a", "b"]}), props(a={"required": ["b", "a"]})),
    ({"anyOf": [{"required": ["a", "b"]}]}, {"anyOf": [{"required": ["b", "a"]}]}),
    ({"oneOf": [{"required": ["a", "b"]}]}, {"oneOf": [{"required": ["b", "a"]}]}),
    ({"prefixItems": [{"required": ["a", "b"]}]}, {"prefixItems": [{"required": ["b", "a"]}]}),
    ({"$defs": {"a": {"required": ["a", "b"]}}}, {"$defs": {"a": {"required": ["b", "a"]}}}),
    ({"type": "strnig"}, {"type": "strnig"}),
    ({"properties": ["x"]}, {"properties": ["x"]}),
    ({"properties": 1, "type": "object"}, {"type": "object", "properties": 1}),
]

ROWS = [
    # Properties, and what is required.
    (props(), props(a=STR), f"properties/a {GROWS}"),
    ({}, props(a=STR), f"properties/a {GROWS}"),
    (props(a=STR), {}, f"properties/a {EITHER}"),
    (props(a=STR), props(b=STR), f"properties/a {EITHER}", f"properties/b {GROWS}"),
    (props(a=STR), props(a=INT), f"properties/a/type {EITHER}"),
    (props(a=props(b={"description": "x"})), props(a=props(b={"description": "x\u200b"})),
     f"properties/a/properties/b/description {TEXT}"),
    (props(), {**props(a=STR), "required": ["a"]},
     "properties/a breaking additive", f"required/a {NARROWS}"),
    (props(), {**props(a=STR), "required": "a"}, f"properties/a {GROWS}", f"required {EITHER}"),
    (props(), {**props(a=STR), "required": ["b"]}, f"properties/a {GROWS}", f"required/b {NARROWS}"),
    (props(description=STR), props(description=INT), f"properties/description/type {EITHER}"),
    (props(ttlMs=STR), props(ttlMs=STR, _meta=STR), f"properties/_meta {GROWS}"),
    ({"properties": []}, {"properties": {}}, f"properties {EITHER}"),
    ({"properties": {}}, {"properties": "x"}, f"properties {EITHER}"),
    ({}, {"properties": None}, f"properties {EITHER}"),
    ({"properties": "x"}, {}, f"properties {EITHER}"),
    ({"properties": [STR]}, {"properties": [STR], "title": "x"}, f"title {TEXT}"),
    ({"required": ["a"]}, {"required": ["a", "b"]}, f"required/b {NARROWS}"),
    ({"required": ["a"]}, {}, f"required/a {WIDENS}"),
    ({"required": ["a"]}, {"required": ["b"]}, f"required/a {WIDENS}", f"required/b {NARROWS}"),
    ({"required": ["a"]}, {"required": ["a", 1]}, f"required {EITHER}"),
    ({"required": True}, {"required": ["a"]}, f"required {EITHER}"),
    ({"required": None}, {}, f"required {EITHER}"),
    # Types.
    (STR, {}, f"type {WIDENS}"),
    ({}, STR, f"type {NARROWS}"),
    (STR, INT, f"type {EITHER}"),
    (INT, NUM, f"type {WIDENS}"),
    (NUM, INT, f"type {NARROWS}"),
    (STR, {"type": ["string"]}, f"type {SHOWN}"),
    ({"type": ["string", "null"]}, {"type": ["null", "string"]}, f"type {SHOWN}"),
    (NUM, {"type": ["number", "integer"]}, f"type {SHOWN}"),
    (STR, {"type": ["string", "null"]}, f"type {WIDENS}"),
    ({"type": ["string", "null"]}, STR, f"type {NARROWS}"),
    ({"type": ["integer", "string"]}, {"type": ["string", "number"]}, f"type {WIDENS}"),
    ({"type": ["integer", "string"]}, NUM, f"type {EITHER}"),
    (STR, {"type": "strnig"}, f"type {EITHER}"),
    ({"type": "strnig"}, {"type": ["strnig"]}, f"type {EITHER}"),
    (STR, {"type": ["string", "strnig"]}, f"type {EITHER}"),
    (STR, {"type": ["string", "string"]}, f"type {EITHER}"),
    ({"type": ["string"]}, {"type": ["string", {"description": "evil"}]}, f"type {EITHER}"),
    ({"type": {"a": "x"}}, {"type": {"a": "evil"}}, f"type {EITHER}"),
    (STR, {"type": {"a": "evil"}}, f"type {EITHER}"),
    (STR, {"type": None}, f"type {EITHER}"),
    # Enumerations.
    ({"enum": [1, 2]}, {"enum": [2, 1]}, f"enum {SHOWN}"),
    ({"enum": [1, 2]}, {"enum": [1, 2, 2]}, f"enum {SHOWN}"),
    ({"enum": [1, 2]}, {"enum": [2]}, f"enum {NARROWS}"),
    ({"enum": [2]}, {"enum": [1, 2]}, f"enum {WIDENS}"),
    ({"enum": [1]}, {"enum": [2]}, f"enum {EITHER}"),
    ({"enum": [1]}, {"enum": [True]}, f"enum {EITHER}"),
    ({"enum": [{"a": 1, "b": 2}, 3]}, {"enum": [3, {"b": 2, "a": 1}]}, f"enum {SHOWN}"),
    ({"enum": [1]}, {}, f"enum {WIDENS}"),
    ({}, {"enum": [1]}, f"enum {NARROWS}"),
    ({"enum": [1]}, {"enum": 1}, f"enum {EITHER}"),
    ({"enum": {"a": 1}}, {"enum": [1]}, f"enum {EITHER}"),
    ({"enum": "a"}, {"enum": "b"}, f"enum {EITHER}"),
    # Numbers.
    ({"minimum": 2**63 - 1}, {"minimum": 2**63}, f"minimum {NARROWS}"),
    ({"maximum": 2**63 - 1}, {"maximum": 2**63}, f"maximum {WIDENS}"),
    ({"maximum": number("0.1")}, {"maximum": number("0.10000000000000000001")}, f"maximum {WIDENS}"),
    ({"minimum": number("-1e300")}, {"minimum": 0}, f"minimum {NARROWS}"),
    ({"minimum": number("1e-300")}, {"minimum": 0}, f"minimum {WIDENS}"),
    ({"maximum": number("1e9998")}, {"maximum": number("1e9999")}, f"maximum {WIDENS}"),
    ({"maximum": number("1e9999")}, {"maximum": number("1e10000")}, f"maximum {EITHER}"),
    ({"maximum": number("1e999999999999")}, {"maximum": 1}, f"maximum {EITHER}"),
    ({"minimum": number("1e-10000")}, {"minimum": 0}, f"minimum {EITHER}"),
    ({"minimum": 1}, {"minimum": True}, f"minimum {EITHER}"),
    ({"minimum": "1"}, {"minimum": 2}, f"minimum {EITHER}"),
    ({"exclusiveMinimum": False}, {"exclusiveMinimum": True}, f"exclusiveMinimum {EITHER}"),
    # Schemas that hold schemas.
    ({"items": STR}, {"items": INT}, f"items/type {EITHER}"),
    ({}, {"items": STR}, f"items {NARROWS}"),
    ({"items": STR}, {}, f"items {WIDENS}"),
    ({"items": True}, {"items": False}, f"items {NARROWS}"),
    ({"items": [STR]}, {"items": [INT]}, f"items {EITHER}"),
    ({"items": True}, {"items": "evil"}, f"items {EITHER}"),
    ({"items": "evil"}, {"items": False}, f"items {EITHER}"),
    ({"items": None}, {"items": True}, f"items {EITHER}"),
    ({"items": False}, {"items": [STR]}, f"items {EITHER}"),
    ({"additionalProperties": True}, {"additionalProperties": "evil"}, f"additionalProperties {EITHER}"),
    ({}, {"additionalProperties": "evil"}, f"additionalProperties {EITHER}"),
    ({"contains": STR}, {"contains": STR, "minContains": 0}, f"minContains {EITHER}"),
    ({"contains": STR, "minContains": 0}, {"contains": STR}, f"minContains {EITHER}"),
    ({"minContains": 1}, {"minContains": 2}, f"minContains {EITHER}"),
    (deep(60, {"title": "a"}), deep(60, {"title": "b"}), "items/" * 60 + f"title {TEXT}"),
    ({"not": {"items": STR}}, {"not": {}}, f"not/items {EITHER}"),
    ({"not": {"description": "a"}}, {"not": {"description": "b"}}, f"not/description {TEXT}"),
    ({"if": {"enum": [1, 2]}}, {"if": {"enum": [2, 1]}}, f"if/enum {SHOWN}"),
    ({"then": {"x": 1}}, {"then": {"x": 2}}, f"then/x {EITHER}"),
    ({"patternProperties": {"a": STR}}, {}, f"patternProperties/a {EITHER}"),
    ({"patternProperties": {"a": NUM}}, {"patternProperties": {"a": INT}},
     f"patternProperties/a/type {EITHER}"),
    ({"patternProperties": {"a": {}}}, {"patternProperties": {"a": {"minimum": 1}}},
     f"patternProperties/a/minimum {EITHER}"),
    ({"dependentSchemas": {"a": STR}}, {}, f"dependentSchemas/a {EITHER}"),
    ({"patternProperties": {"a": {"title": "x"}}}, {"patternProperties": {"a": {"title": "y"}}},
     f"patternProperties/a/title {TEXT}"),
    ({"patternProperties": []}, {"patternProperties": {}}, f"patternProperties {EITHER}"),
    ({"$defs": {"a": NUM}}, {"$defs": {"a": INT}}, f"$defs/a/type {EITHER}"),
    ({"$defs": {"a": INT}}, {"$defs": {"a": NUM}}, f"$defs/a/type {EITHER}"),
    ({"$defs": {"a": {"enum": [1]}}, "not": {"$ref": "#/$defs/a"}},
     {"$defs": {"a": {"enum": [1, 2]}}, "not": {"$ref": "#/$defs/a"}}, f"$defs/a/enum {EITHER}"),
    ({"$defs": {"a": {"enum": [1, 2]}}}, {"$defs": {"a": {"enum": [2, 1]}}}, f"$defs/a/enum {SHOWN}"),
    ({"$defs": {"a": {}}}, {"$defs": {"a": {"minimum": 1}}}, f"$defs/a/minimum {EITHER}"),
    ({"$defs": {"a": {"default": 1}}}, {"$defs": {"a": {}}}, f"$defs/a/default {EITHER}"),
    ({"$defs": {"a": props()}}, {"$defs": {"a": props(b=STR)}}, f"$defs/a/properties/b {EITHER}"),
    ({"$defs": {"a": True}}, {"$defs": {"a": STR}}, f"$defs/a {EITHER}"),
    ({"$defs": {"a": STR}}, {}, f"$defs/a {EITHER}"),
    ({"$defs": {"a": NUM}}, {"$defs": {"b": NUM}}, f"$defs/a {EITHER}", f"$defs/b {GROWS}"),
    ({"definitions": {"a": {"description": "x"}}}, {"definitions": {"a": {"description": "y"}}},
     f"definitions/a/description {TEXT}"),
    ({}, {"$defs": {"a": NUM}}, f"$defs/a {GROWS}"),
    ({"$defs": "x"}, {}, f"$defs {EITHER}"),
    ({}, {"definitions": []}, f"definitions {EITHER}"),
    # Boolean schemas, and what is no schema.
    (True, False, f" {NARROWS}"),
    (False, True, f" {WIDENS}"),
    (True, STR, f" {NARROWS}"),
    (STR, True, f" {WIDENS}"),
    (STR, False, f" {NARROWS}"),
    (False, STR, f" {WIDENS}"),
    (STR, None, f" {EITHER}"),
    (True, "x", f" {EITHER}"),
    ("x", False, f" {EITHER}"),
    (False, None, f" {EITHER}"),
    (1, True, f" {EITHER}"),
    ("x", "y", f" {EITHER}"),
    ([STR], STR, f" {EITHER}"),
    (1, "1", f" {EITHER}"),
    (props(a=True), props(a=False), f"properties/a {NARROWS}"),
    # What nobody knows.
    ({}, {"x-hidden": "IMPORTANT"}, f"x-hidden {TEXT}"),
    ({"x": {"a": 1}}, {}, f"x {TEXT}"),
    ({"x": 1}, {"x": 2}, f"x {ACTS}"),
    ({}, {"nullable": True}, f"nullable {ACTS}"),
    ({}, {"x": None}, f"x {ACTS}"),
    ({"x": ["a", "b"]}, {"x": ["b", "a"]}, f"x {TEXT}"),
]  # fmt: skip

for name in ("$comment", "description", "examples", "title"):
    ROWS += [
        ({name: "a"}, {name: "b"}, f"{name} {TEXT}"),
        ({name: "a"}, {}, f"{name} {TEXT}"),
        ({}, {name: 1}, f"{name} {TEXT}"),
    ]
for name in ("default", "deprecated", "readOnly", "writeOnly"):
    ROWS += [
        ({name: 1}, {name: 2}, f"{name} {ACTS}"),
        ({name: 1}, {}, f"{name} {ACTS}"),
        ({}, {name: "a"}, f"{name} {ACTS}"),
    ]
for name in (*LOWER, *UPPER, *LIMITS):
    ROWS += [
        ({}, {name: 3}, f"{name} {NARROWS}"),
        ({name: 3}, {}, f"{name} {WIDENS}"),
        ({name: 3}, {name: "3"}, f"{name} {EITHER}"),
    ]
for names, rising, falling in (
    (LOWER, NARROWS, WIDENS),
    (UPPER, WIDENS, NARROWS),
    (LIMITS, EITHER, EITHER),
):
    for name in names:
        ROWS += [
            ({name: 9}, {name: 10}, f"{name} {rising}"),
            ({name: 10}, {name: number("9.5")}, f"{name} {falling}"),
        ]
for name in OPAQUE:
    ROWS += [
        ({}, {name: "a"}, f"{name} {EITHER}"),
        ({name: "a"}, {}, f"{name} {EITHER}"),
        ({name: "a"}, {name: "b"}, f"{name} {EITHER}"),
    ]
for name in OPEN:
    ROWS += [
        ({}, {name: True}, f"{name} {SHOWN}"),
        ({name: True}, {}, f"{name} {SHOWN}"),
        ({}, {name: False}, f"{name} {NARROWS}"),
        ({name: False}, {}, f"{name} {WIDENS}"),
        ({name: True}, {name: False}, f"{name} {NARROWS}"),
        ({name: False}, {name: STR}, f"{name} {WIDENS}"),
        ({name: STR}, {}, f"{name} {WIDENS}"),
        ({name: STR}, {name: INT}, f"{name}/type {EITHER}"),
        ({name: {"title": "a"}}, {name: {"title": "b"}}, f"{name}/title {TEXT}"),
    ]
for name in CONDITIONS:
    ROWS += [
        ({}, {name: STR}, f"{name} {EITHER}"),
        ({name: STR}, {}, f"{name} {EITHER}"),
        ({name: {"minimum": 1}}, {name: {"minimum": 2}}, f"{name}/minimum {EITHER}"),
        ({name: {"default": 1}}, {name: {"default": 2}}, f"{name}/default {EITHER}"),
        ({name: {"title": "a"}}, {name: {"title": "b"}}, f"{name}/title {TEXT}"),
        ({name: True}, {name: False}, f"{name} {EITHER}"),
    ]
for name, fewer, more in (("anyOf", NARROWS, WIDENS), ("allOf", WIDENS, NARROWS)):
    ROWS += [
        ({name: [STR, INT]}, {name: [INT, STR]}, f"{name} {SHOWN}"),
        ({name: [STR, INT]}, {name: [STR]}, f"{name} {fewer}"),
        ({name: [STR]}, {name: [STR, INT]}, f"{name} {more}"),
        ({name: [STR, INT]}, {name: [STR, NUM]}, f"{name}/1/type {WIDENS}"),
    ]
for name, gone, added in (
    ("anyOf", WIDENS, NARROWS),
    ("allOf", WIDENS, NARROWS),
    ("oneOf", EITHER, EITHER),
):
    ROWS += [
        ({name: [STR, INT]}, {name: [STR, {"type": "null"}]}, f"{name}/1/type {EITHER}"),
        ({name: [STR]}, {name: [INT, NUM]}, f"{name} {EITHER}"),
        ({name: [{"description": "a"}]}, {name: [{"description": "b"}]}, f"{name}/0/description {TEXT}"),
        ({name: [STR]}, {name: [{"type": "string", "x": "IMPORTANT"}]}, f"{name}/0/x {TEXT}"),
        ({name: [STR]}, {}, f"{name} {gone}"),
        ({}, {name: [STR]}, f"{name} {added}"),
        ({name: [STR]}, {name: STR}, f"{name} {EITHER}"),
        ({name: "x"}, {name: [STR]}, f"{name} {EITHER}"),
        ({name: "x"}, {}, f"{name} {gone}"),
    ]  # fmt: skip

# Exactly one of several, and several one after the other.
ROWS += [
    ({"oneOf": [STR, INT]}, {"oneOf": [INT, STR]}, f"oneOf {SHOWN}"),
    ({"oneOf": [STR, INT]}, {"oneOf": [STR]}, f"oneOf {EITHER}"),
    ({"oneOf": [INT]}, {"oneOf": [INT, {"minimum": 5}]}, f"oneOf {EITHER}"),
    ({"oneOf": [{"maximum": 5}, {"minimum": 10}]}, {"oneOf": [{"maximum": 20}, {"minimum": 10}]},
     f"oneOf/0/maximum {EITHER}"),
    ({"oneOf": [STR, STR]}, {"oneOf": [STR]}, f"oneOf {EITHER}"),
    ({"oneOf": [STR]}, {"oneOf": [STR, STR]}, f"oneOf {EITHER}"),
    ({"oneOf": [STR, INT]}, {"oneOf": [STR, NUM]}, f"oneOf/1/type {EITHER}"),
    ({"oneOf": [{"enum": [1, 2]}]}, {"oneOf": [{"enum": [2, 1]}]}, f"oneOf/0/enum {SHOWN}"),
    ({"oneOf": [{"default": 1}]}, {"oneOf": [{"default": 2}]}, f"oneOf/0/default {EITHER}"),
    ({"oneOf": [props()]}, {"oneOf": [props(a=STR)]}, f"oneOf/0/properties/a {EITHER}"),
    ({"anyOf": [STR, STR]}, {"anyOf": [STR]}, f"anyOf {SHOWN}"),
    ({"prefixItems": [STR, INT]}, {"prefixItems": [INT, STR]},
     f"prefixItems/0/type {EITHER}", f"prefixItems/1/type {EITHER}"),
    ({"prefixItems": [STR, INT]}, {"prefixItems": [INT]},
     f"prefixItems/0/type {EITHER}", f"prefixItems/1 {EITHER}"),
    ({"prefixItems": [STR, STR]}, {"prefixItems": [STR]}, f"prefixItems/1 {EITHER}"),
    ({"prefixItems": [STR]}, {"prefixItems": [STR, STR]}, f"prefixItems/1 {EITHER}"),
    ({"prefixItems": [STR]}, {}, f"prefixItems/0 {EITHER}"),
    ({}, {"prefixItems": [STR]}, f"prefixItems/0 {EITHER}"),
    ({"prefixItems": [STR]}, {"prefixItems": STR}, f"prefixItems {EITHER}"),
    ({"prefixItems": "x"}, {}, f"prefixItems {EITHER}"),
    ({"prefixItems": [{"title": "a"}, True]}, {"prefixItems": [{"title": "b"}, False]},
     f"prefixItems/0/title {TEXT}", f"prefixItems/1 {NARROWS}"),
]  # fmt: skip

# Where the module is wrong today, and says of one flow at least that nothing breaks.
EITHER_WAY = [
    ("a new pattern narrows", {}, {"patternProperties": {".": INT}}),
    ("a new pattern widens where nothing else may stand",
     {"additionalProperties": False}, {"additionalProperties": False, "patternProperties": {"a": STR}}),
    ("a new schema that depends on a property narrows",
     {}, {"dependentSchemas": {"a": {"required": ["b"]}}}),
    ("oneOf: strings were let through, and only they are not now",
     {"oneOf": [INT, STR, STR]}, {"oneOf": [INT, INT, STR]}),
    ("prefixItems: place 1 was one of the items",
     {"prefixItems": [STR], "items": INT}, {"prefixItems": [STR, STR], "items": INT}),
    ("prefixItems: place 1 is one of the items now",
     {"prefixItems": [STR, INT], "items": STR}, {"prefixItems": [STR], "items": STR}),
]  # fmt: skip


@pytest.mark.parametrize("flow", [schema.INPUT, schema.OUTPUT])
@pytest.mark.parametrize(("before", "after"), SAME)
def test_schemas_that_mean_the_same_have_no_changes(before, after, flow):
    assert found(Slot(before), Slot(after), flow) == []
    assert found(Slot(after), Slot(before), flow) == []
    assert found(None, None, flow) == []


def expected(changes, flow):
    cells = [change.split(" ") for change in changes]
    return [(path, kinds[flow == schema.OUTPUT]) for path, *kinds in cells]


@pytest.mark.parametrize("flow", [schema.INPUT, schema.OUTPUT])
@pytest.mark.parametrize("row", ROWS)
def test_a_change_of_a_schema_has_a_place_and_a_class(row, flow):
    before, after, *changes = row
    assert found(Slot(before), Slot(after), flow) == expected(changes, flow)


@pytest.mark.parametrize(("_", "before", "after"), EITHER_WAY, ids=[row[0] for row in EITHER_WAY])
def test_a_change_that_may_be_either_is_breaking(_, before, after):
    for flow in (schema.INPUT, schema.OUTPUT):
        assert "breaking" in {kind for _, kind in found(Slot(before), Slot(after), flow)}


def test_a_schema_that_is_missing_lets_everything_through():
    some = Slot({"minimum": 1})
    assert found(None, some, schema.INPUT) == [("", "breaking")]
    assert found(some, None, schema.INPUT) == [("", "additive")]
    assert found(None, some, schema.OUTPUT) == [("", "additive")]
    assert found(some, None, schema.OUTPUT) == [("", "breaking")]


def test_a_change_of_what_may_stand_beside_keeps_both_sides_as_they_stood():
    name = "additionalProperties"
    (added,) = schema.compare((), Slot({}), Slot({name: False}), schema.INPUT)
    assert (added.before, added.after) == (None, Slot(value=False))
    (gone,) = schema.compare((), Slot({name: False}), Slot({}), schema.INPUT)
    assert (gone.before, gone.after) == (Slot(value=False), None)
    (inner,) = schema.compare((), Slot({name: STR}), Slot({name: INT}), schema.INPUT)
    assert (inner.before, inner.after) == (Slot("string"), Slot("integer"))
    (shown,) = schema.compare((), Slot({}), Slot({name: True}), schema.INPUT)
    assert (shown.before, shown.after) == (None, Slot(value=True))


def test_a_name_that_is_required_has_one_side():
    before, after = Slot({"required": ["a"]}), Slot({"required": ["b"]})
    gone, added = schema.compare(("x",), before, after, schema.INPUT)
    assert gone == (("x", "required", "a"), "additive", Slot("a"), None)
    assert added == (("x", "required", "b"), "breaking", None, Slot("b"))


@pytest.mark.parametrize("flow", [schema.INPUT, schema.OUTPUT])
@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("properties", {}),
        ("$defs", {}),
        ("definitions", {}),
        ("patternProperties", {}),
        ("dependentSchemas", {}),
        ("required", []),
        ("prefixItems", []),
    ],
)
def test_an_empty_holder_that_comes_or_goes_is_cosmetic(name, empty, flow):
    assert found(Slot({}), Slot({name: empty}), flow) == [(name, "cosmetic")]
    assert found(Slot({name: empty}), Slot({}), flow) == [(name, "cosmetic")]


@pytest.mark.parametrize("flow", [schema.INPUT, schema.OUTPUT])
@pytest.mark.parametrize(
    ("before", "after"), [(["a"], ["a", "a"]), (["a", "a"], ["a"]), (["a", "a", "b"], ["b", "b", "a"])]
)  # fmt: skip
def test_a_name_that_is_required_twice_is_cosmetic(before, after, flow):
    sides = (Slot({"required": names}) for names in (before, after))
    assert found(*sides, flow) == [("required", "cosmetic")]
