import json

import pytest

from thrall_py.verbs import fitting, items

NAMED = {
    "title": {"type": "string", "description": "What it is about.\x1b"},
    "priority": {"type": "integer"},
    "share": {"type": ["number", "null"]},
    "urgent": {"type": "boolean"},
    "labels": {"type": "array", "items": {"type": "string"}},
    "numbers": {"type": "array", "items": {"type": "integer"}},
    "at": {"type": "object", "properties": {"lat": {"type": "number"}}},
    "file.name": {"type": "string"},
    "nothing": {"type": "null"},
    "any": {},
}


def compared(*words, **schema):
    return fitting.compare(items.parse(words), {"properties": NAMED, **schema})


@pytest.mark.parametrize(
    "words",
    [
        ("title=x",),
        ("title:=5",),  # the server's word is final
        ("priority:=5",),
        ('priority:="5"',),
        ("any=x", "another:=1"),
        ("labels[]=x", "at.lat:=1", "at.lon=x"),
        (r"file\.name=x",),
        ("something-else=x",),
    ],
)
def test_what_the_schema_does_not_forbid_passes(words):
    assert compared(*words) == ([], [])


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("priority=5", "priority is an integer: write priority:=5"),
        ("priority=-5", "priority is an integer: write priority:=-5"),
        ("priority=5.5", "priority is an integer: write priority:=1"),
        ("priority=high", "priority is an integer: write priority:=1"),
        ("share=0.5", "share is a number or null: write share:=0.5"),
        ("share=5", "share is a number or null: write share:=5"),
        ("priority=5.0", "priority is an integer: write priority:=5.0"),
        ("share=null", "share is a number or null: write share:=null"),
        ("share=NaN", "share is a number or null: write share:=1.5"),
        ("urgent=true", "urgent is a boolean: write urgent:=true"),
        ("urgent=yes", "urgent is a boolean: write urgent:=true"),
        ("labels=bug", "labels is an array: write 'labels[]=bug'"),
        ('labels=["bug"]', """labels is an array: write 'labels:=["bug"]'"""),
        ("labels=it's", """labels is an array: write 'labels[]=it'"'"'s'"""),
        ("labels=\x1b", r"labels is an array: write 'labels[]=\x1b'"),
        (f"labels={'x' * 41}", "labels is an array: write labels:=[...]"),
        ("numbers=1", "numbers is an array: write 'numbers[]:=1'"),
        ("numbers=x", "numbers is an array: write numbers:=[...]"),
        ("at=here", "at is an object: write at:={...}"),
        ("at.lat=north", "at.lat is a number: write at.lat:=1.5"),
        ("numbers[]=5", "numbers[] is an integer: write 'numbers[]:=5'"),
        ("nothing=", "nothing is null: write nothing:=null"),
    ],
)
def test_a_text_for_what_is_no_string_is_a_fault_with_the_spelling_that_is_right(word, sentence):
    assert compared(word) == ([sentence], [])


CHOSEN = {
    "size": {"enum": ["small", "large\x1b"]},
    "mixed": {"enum": ["a", 1, None]},
    "either": {"anyOf": [{"const": "x"}, {"type": "null"}]},
    "open": {"anyOf": [{"enum": ["x"]}, {"type": "string"}]},
    "many": {"enum": [f"value{n}" for n in range(12)]},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
}


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("size=Small", r'size takes "small" or "large\x1b"'),
        ("mixed=b", 'mixed takes "a" or "1" or "null"'),
        ("mixed=1", "mixed is no text there: write mixed:=1"),
        ("either=y", 'either takes "x" or "null"'),
        ("tags[]=c", 'tags[] takes "a" or "b"'),
    ],
)
def test_a_text_that_is_none_of_the_values_is_a_fault_that_names_them(word, sentence):
    assert fitting.compare(items.parse([word]), {"properties": CHOSEN}) == ([sentence], [])


def test_of_many_values_the_first_are_named_and_the_nearest():
    (fault,) = fitting.compare(items.parse(["many=valeu11"]), {"properties": CHOSEN}).faults
    assert fault.endswith('"value9", and 2 more; the nearest: value11, value1, value10')


@pytest.mark.parametrize("word", ["size=small", 'size:="Small"', "open=y", "tags[]=a", "either=x"])
def test_a_value_that_is_offered_passes_and_so_does_json(word):
    assert fitting.compare(items.parse([word]), {"properties": CHOSEN}) == ([], [])


def test_a_key_that_looks_mistyped_is_a_doubt():
    assert compared("titel=x") == ([], ["no parameter titel; the nearest: title"])


def test_a_key_that_the_schema_forbids_is_a_fault():
    assert compared("titel=x", "zzz.y=1", additionalProperties=False) == (
        [
            "no parameter titel; the nearest: title",
            (
                r"no parameter zzz; there are title, priority, share, urgent, labels, numbers, at,"
                r" file\.name, nothing, any"
            ),
        ],
        [],
    )


def test_of_many_parameters_the_first_are_named():
    schema = {"properties": {f"x{n}": {} for n in range(12)}, "additionalProperties": False}
    (fault,) = fitting.compare(items.parse(["zzz=1"]), schema).faults
    assert fault.endswith("x8, x9, and 2 more")


def test_a_tool_without_parameters_says_so():
    schema = {"additionalProperties": False}
    assert fitting.compare(items.parse(["a\x1b=1"]), schema).faults == [
        r"no parameter a\x1b; the tool has none"
    ]


def test_a_name_with_dots_that_were_not_escaped_is_found():
    assert compared("file.name=x").doubts == [r"no parameter file; the nearest: file\.name"]
    assert compared("labels.x[]=1").doubts == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("title", r'title is required (a string, "What it is about.\x1b")'),
        ("share", "share is required (a number or null)"),
        ("any", "any is required"),
        ("file.name", r"file\.name is required (a string)"),
    ],
)
def test_a_required_parameter_that_is_missing_is_named_with_what_it_is(name, sentence):
    assert compared("urgent:=true", required=[name, "urgent"]) == ([sentence], [])


def test_a_required_parameter_is_there_if_a_part_of_it_is():
    assert compared("at.lat:=1", required=["at"]) == ([], [])


def test_a_long_description_is_cut():
    schema = {"properties": {"a": {"description": "x" * 5000}}, "required": ["a"]}
    (fault,) = fitting.compare(items.parse(["b=1"]), schema).faults
    assert len(fault) < 300


@pytest.mark.parametrize("schema", [None, True, [], {"properties": 5, "required": "a"}])
def test_a_schema_that_is_none_forbids_nothing(schema):
    assert fitting.compare(items.parse(["a=1", "b[]=2"]), schema) == ([], [])


def test_the_right_spelling_is_one_that_fits():
    (fault,) = compared("priority=5").faults
    word = fault.rpartition("write ")[2]
    assert compared(word) == ([], [])
    assert json.loads(items.join(items.parse([word]))) == {"priority": 5}
