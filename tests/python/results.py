"""Writes python/slotscope/results.py, the types of results, from the schemas in docs/schema."""

from __future__ import annotations

import json
import keyword
import re
from typing import Any

from conftest import ROOT

FILE = ROOT / "python" / "slotscope" / "results.py"
RESULTS = {"PlanResult": "plan", "WhatIfResult": "whatif", "AdviseResult": "advise", "DiffResult": "diff"}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""The types of results, for type checkers: the JSON of the commands, generated from docs/schema (tests/python/results.py).

At run time each is a dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

'''


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


class Types:
    """The distinct types of all schemas."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}

    def of_schema(self, name: str, schema: dict[str, Any]) -> None:
        """Adds the type `name` of a whole schema. Different definitions of one name get the name of their result as prefix."""
        self.names = {old: camel(old) for old in schema.get("$defs", {})}
        made = {old: self.lines_of(new, schema["$defs"][old]) for old, new in self.names.items()}
        clashes = [old for old, lines in made.items() if self.lines.get(self.names[old], lines) != lines]
        if clashes:
            self.names = {old: name.removesuffix("Result") + new for old, new in self.names.items()}
        for old, new in self.names.items():
            self.lines[new] = self.lines_of(new, schema["$defs"][old])
        self.lines[name] = self.lines_of(name, schema)

    def lines_of(self, name: str, schema: dict[str, Any]) -> list[str]:
        if "properties" not in schema:
            return [f"{name} = {self.of(schema)}"]
        required = schema.get("required", [])
        fields = {
            field: self.of(value) if field in required else f"NotRequired[{self.of(value)}]"
            for field, value in sorted(schema["properties"].items())
        }
        if any(keyword.iskeyword(field) or not field.isidentifier() for field in fields):
            body = [f'    "{field}": "{kind}",' for field, kind in fields.items()]
            return [f"{name} = TypedDict(", f'    "{name}",', "    {", *(f"    {line}" for line in body), "    },", ")"]
        return [f"class {name}(TypedDict):", *(f"    {field}: {kind}" for field, kind in fields.items())]

    def of(self, schema: Any) -> str:
        """The type of a value."""
        if not isinstance(schema, dict):
            return "Any"
        if "$ref" in schema:
            return self.names[schema["$ref"].rpartition("/")[2]]
        words = [word for one in schema.get("oneOf", [schema]) for word in one.get("enum", [one.get("const")])]
        if all(isinstance(word, str) for word in words) and ("oneOf" in schema or "enum" in schema):
            return f"Literal[{', '.join(json.dumps(word) for word in words)}]"
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return " | ".join(dict.fromkeys(map(self.of, schema[several])))
        if "const" in schema:
            return "str" if isinstance(schema["const"], str) else "Any"
        kinds = schema.get("type")
        if kinds is None:
            return "Any"
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return " | ".join(dict.fromkeys(self.of_kind(kind, schema) for kind in kinds))

    def of_kind(self, kind: str, schema: dict[str, Any]) -> str:
        if kind == "array":
            items = schema.get("prefixItems") or [schema.get("items")]
            return f"List[{' | '.join(dict.fromkeys(self.of(item) for item in items))}]"
        if kind == "object":
            return f"Dict[str, {self.of(schema.get('additionalProperties'))}]"
        return SCALARS[kind]


def results() -> str:
    """The text of the file."""
    types = Types()
    for name, command in RESULTS.items():
        types.of_schema(name, json.loads((ROOT / "docs" / "schema" / f"{command}.json").read_text()))
    names = "".join(f'    "{name}",\n' for name in sorted(types.lines))
    body = "".join("\n\n" + "\n".join(lines) + "\n" for _, lines in sorted(types.lines.items()))
    return f"{HEAD}__all__ = [\n{names}]\n{body}"


if __name__ == "__main__":
    FILE.write_text(results())
