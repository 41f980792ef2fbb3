"""The JSON Schema of saved calibrators is generated, fits each file that is written, and refuses parts as loading does."""

import json
import random
import re
from itertools import combinations

import pytest
from laws.test_saved_calibrators import ALL, SAVED, changed

from calibrant.interop.save import from_document
from tools.calibrator_schema import WRITTEN, text

SCHEMA = json.loads(WRITTEN.read_text(encoding="utf-8"))
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: TYPES["number"](v) and v == v // 1,
}
ANNOTATIONS = {"description", "title", "$schema", "$defs"}


def fits(value, schema):
    """Whether a value fits, by the keywords of JSON Schema that ours has."""
    said = dict(schema)
    at = SCHEMA["$defs"][said.pop("$ref").removeprefix("#/$defs/")] if "$ref" in said else {}
    known = said.get("properties", {})
    part, rows = isinstance(value, dict), value if isinstance(value, list) else []
    holds = {
        "type": lambda kind: TYPES[kind](value),
        "const": lambda one: type(value) is type(one) and value == one,
        "enum": lambda some: value in some,
        "required": lambda names: not part or set(names) <= value.keys(),
        "properties": lambda of: not part or all(fits(value[name], of[name]) for name in of.keys() & value.keys()),
        "additionalProperties": lambda _: not part or value.keys() <= known.keys(),
        "items": lambda of: all(fits(one, of) for one in rows),
        "minItems": lambda least: len(rows) >= least,
        "maxItems": lambda most: len(rows) <= most,
        "uniqueItems": lambda _: (
            not any(a == b and isinstance(a, bool) == isinstance(b, bool) for a, b in combinations(rows, 2))
        ),
        "minimum": lambda least: not TYPES["number"](value) or value >= least,
        "maximum": lambda most: not TYPES["number"](value) or value <= most,
        "pattern": lambda form: not isinstance(value, str) or re.search(form, value),
        "anyOf": lambda some: any(fits(value, one) for one in some),
        "oneOf": lambda some: sum(fits(value, one) for one in some) == 1,
    }
    return all(holds[word](of) for word, of in said.items() if word not in ANNOTATIONS) and (not at or fits(value, at))


def test_the_schema_is_the_one_that_is_generated():
    assert WRITTEN.read_text(encoding="utf-8") == text(), "run `python -m tools.calibrator_schema`"


@pytest.mark.parametrize("name", SAVED)
def test_every_saved_calibrator_fits_the_schema(name):
    assert fits(SAVED[name]["document"], SCHEMA)


OF_TYPES = {"gone", "null", "true", "word", "spelled word", "unknown", "objects", "huge dtype"}
"""Changes that take a part away, or give it another type."""

CHANGES = [one for one in ALL if one[2] != "deep" and one[1] != ("library",)]  # any library may have written a file
SAID = [
    (name, path, word, edit)
    for name, path, word, edit in CHANGES
    if word in OF_TYPES and (word != "gone" or isinstance(path[-1], str))
    if "parameters" not in path[:-1] and path[-2:-1] != ("calibrators_",)
]
"""Those that a schema can speak of: how long lists are, and what a parameter may be, is for the class to check."""


def loads(document):
    """Whether it is a calibrator."""
    try:
        from_document(document)
    except ValueError:
        return False
    return True


def test_what_lacks_a_part_or_has_one_of_another_type_is_refused_by_both():
    for name, path, word, edit in random.Random(17).sample(SAID, 400):
        document = changed(SAVED[name]["document"], path, edit)
        assert fits(document, SCHEMA) == loads(document), (name, path, word)


def test_the_schema_refuses_no_file_that_loads():
    for name, path, word, edit in random.Random(17).sample(CHANGES, 400):
        document = changed(SAVED[name]["document"], path, edit)
        assert fits(document, SCHEMA) or not loads(document), (name, path, word)


def test_another_validator_gives_the_same_answers():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert all(validator.is_valid(kept["document"]) for kept in SAVED.values())
    for name, path, word, edit in random.Random(17).sample(CHANGES, 100):
        document = json.loads(json.dumps(changed(SAVED[name]["document"], path, edit)))
        assert validator.is_valid(document) == fits(document, SCHEMA), (name, path, word)
