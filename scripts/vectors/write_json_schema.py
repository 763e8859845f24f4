"""Writes test/vectors/json-schema/confluent.ndjson: messages that confluent-kafka's JSONSerializer wrote, with the schemas that they name, and
values that it refused to write.

    VENV/bin/pip install 'confluent-kafka[json,schemaregistry]==2.16.0' && VENV/bin/python scripts/vectors/write_json_schema.py
"""

import base64
import json
import pathlib
from importlib.metadata import version

from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

target = pathlib.Path(__file__).parents[2] / "test/vectors/json-schema/confluent.ndjson"
origin = f"confluent-kafka (Python) {version('confluent-kafka')}, jsonschema {version('jsonschema')}"
draft7 = "http://json-schema.org/draft-07/schema#"
draft2020 = "https://json-schema.org/draft/2020-12/schema"

# By the name that other schemas call them, with what they refer to in turn.
shared = {
    "country.json": ({"$schema": draft7, "type": "string", "enum": ["DE", "FR", "世"]}, []),
    "address.json": (
        {
            "$schema": draft7,
            "title": "Address",
            "type": "object",
            "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}, "country": {"$ref": "country.json"}},
            "required": ["zip"],
        },
        ["country.json"],
    ),
    "http://example.com/schemas/money.json": (
        {
            "$schema": draft7,
            "$id": "http://example.com/schemas/money.json",
            "definitions": {"amount": {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": ["string", "null"], "default": None}}}},
            "$ref": "#/definitions/amount",
        },
        [],
    ),
}

order = {
    "$schema": draft7,
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "placed": {"type": "string", "format": "date-time"},
        "to": {"oneOf": [{"type": "null"}, {"$ref": "address.json"}]},
        "total": {"$ref": "http://example.com/schemas/money.json#/definitions/amount"},
        "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}, "maxItems": 3},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["id"],
    "definitions": {"line": {"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer", "minimum": 1}}, "additionalProperties": False}},
}
tree = {
    "$schema": draft2020,
    "$id": "https://example.com/tree",
    "$ref": "#node",
    "$defs": {
        "node": {
            "$anchor": "node",
            "type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "unevaluatedProperties": False,
        }
    },
}
pet = {
    "$schema": draft7,
    "title": "Pet",
    "allOf": [{"type": "object", "properties": {"name": {"type": "string"}}}, {"properties": {"age": {"type": "integer", "exclusiveMinimum": 0}}}],
    "oneOf": [{"required": ["barks"]}, {"required": ["meows"]}],
    "properties": {"barks": {"type": "boolean"}, "meows": {"const": "yes"}},
}

cases = [
    ("an order", order, ["address.json", "http://example.com/schemas/money.json"], {
        "id": 2**53 + 1, "placed": "2024-02-29T23:59:59.5+01:00", "to": {"zip": "10115", "country": "DE"},
        "total": {"value": 12.5, "unit": None}, "lines": [{"sku": "höher", "count": 2}, {"sku": "🙂", "count": 1}], "labels": {"a": 1, "__proto__": 2},
    }),
    ("an order of little", order, ["address.json", "http://example.com/schemas/money.json"], {"id": -1, "to": None}),
    ("an order with a property more", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "note": {"free": [1, 2.5, None]}}),
    ("an order without its id", order, ["address.json", "http://example.com/schemas/money.json"], {"to": None}),
    ("an order to a zip of four digits", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "to": {"zip": "1011"}}),
    ("an order to another country", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "to": {"zip": "10115", "country": "XX"}}),
    ("an order of no pieces", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "lines": [{"sku": "a", "count": 0}]}),
    ("an order with a line's property more", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "lines": [{"colour": "a"}]}),
    ("an order of four lines", order, ["address.json", "http://example.com/schemas/money.json"], {"id": 1, "lines": [{}, {}, {}, {}]}),
    ("a tree", tree, [], {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "children": []}]}, {"name": "d"}]}),
    ("a tree with a property more", tree, [], {"name": "a", "children": [{"name": "b", "colour": "green"}]}),
    ("a dog", pet, [], {"name": "Rex", "age": 3, "barks": True}),
    ("a cat", pet, [], {"name": "Tom", "meows": "yes"}),
    ("a cat that says no", pet, [], {"name": "Tom", "meows": "no"}),
    ("a pet that is both", pet, [], {"barks": True, "meows": "yes"}),
    ("a pet of no age", pet, [], {"barks": True, "age": 0}),
]

client = SchemaRegistryClient.new_client({"url": "mock://vectors"})
for name, (schema, names) in shared.items():
    client.register_schema(name, Schema(json.dumps(schema), "JSON", [SchemaReference(other, other, 1) for other in names]))


def references(names):
    """Each one's own references before it, as a registry client hands them out."""
    found = {}
    for name in names:
        schema, inner = shared[name]
        found |= {reference["name"]: reference for reference in references(inner)}
        found[name] = {"name": name, "schema": json.dumps(schema, ensure_ascii=False)}
    return list(found.values())


def tagged(value):
    if isinstance(value, dict):
        return {key: tagged(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    return {"$bigint": str(value)} if isinstance(value, int) and abs(value) > 2**53 - 1 else value


with target.open("w", encoding="utf-8") as out:
    for name, schema, names, value in cases:
        text = json.dumps(schema, ensure_ascii=False)
        refs = [SchemaReference(other, other, 1) for other in names]
        serializer = JSONSerializer(Schema(text, "JSON", refs), client, conf={"auto.register.schemas": True, "validate": True})
        topic = name.replace(" ", "-")
        try:
            written = bytes(serializer(value, SerializationContext(topic, MessageField.VALUE)))
            isValid = True
        except SerializationError:
            lenient = JSONSerializer(Schema(text, "JSON", refs), client, conf={"auto.register.schemas": True, "validate": False})
            written = bytes(lenient(value, SerializationContext(topic, MessageField.VALUE)))
            isValid = False
        schemaId = client.get_latest_version(f"{topic}-value").schema_id
        line = {"name": name, "from": origin, "writtenBy": origin.split(",")[0], "schemaId": schemaId, "message": {"base64": base64.b64encode(written).decode()}, "schema": text, "references": references(names), "isValid": isValid, "value": tagged(value)}
        print(json.dumps(line, ensure_ascii=False), file=out)
