"""Writes test/vectors/protobuf/edges.ndjson: bytes of Google's serializers at the edges of the format, and what Google's json_format says
that they mean. `indexes.ndjson` is what confluent-kafka's serializer writes for messages in a message that has maps. Not needed to run the
tests.

    python3 -m venv venv && venv/bin/pip install 'confluent-kafka[protobuf,schemaregistry]' grpcio-tools
    venv/bin/python scripts/vectors/write_protobuf_edges.py
"""

import base64
import importlib
import json
import pathlib
import sys
import tempfile

import confluent_kafka
import google.protobuf
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, json_format
from grpc_tools import protoc

root = pathlib.Path(__file__).resolve().parents[2]
target = root / "test" / "vectors" / "protobuf"
sources = target / "edges"
generated = tempfile.mkdtemp()
include = pathlib.Path(importlib.import_module("grpc_tools").__file__).parent / "_proto"
names = sorted(path.name for path in sources.glob("*.proto"))
if protoc.main(["protoc", f"-I{sources}", f"-I{include}", f"--python_out={generated}", *names]) != 0:
    sys.exit(1)
sys.path.insert(0, generated)
modules = {name[: -len(".proto")]: importlib.import_module(name[: -len(".proto")] + "_pb2") for name in names}
by_google = f"protobuf {google.protobuf.__version__} (Python)"
lines = []


def descriptor_of(file):
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    return base64.b64encode(proto.SerializeToString()).decode()


def vector(name, file, message_type, payload):
    message = message_type()
    message.ParseFromString(payload)
    module = modules[file]
    lines.append(
        {
            "name": name,
            "from": by_google,
            "writtenBy": by_google,
            "schema": (sources / f"{file}.proto").read_text(),
            "descriptor": descriptor_of(module.DESCRIPTOR),
            "message": message.DESCRIPTOR.full_name,
            "value": base64.b64encode(payload).decode(),
            "json": json.loads(
                json_format.MessageToJson(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
            ),
        }
    )


def written(message):
    return message.SerializeToString()


# Maps where the file's messages are delimited by default.
Delimited = modules["delimited"].Delimited
message = Delimited(id=1)
message.counts["a"] = 1
message.counts["b"] = 2
message.items[7].sku = "seven"
message.item.sku = "one"
message.more.add(sku="two")
vector("maps in a file of delimited messages", "delimited", Delimited, written(message))
vector("maps of nothing in such a file", "delimited", Delimited, written(Delimited(counts={"": 0})))

# Entries that are no map's.
Listed = modules["listed"].Listed
message = Listed()
for key, value in (("a", 1), ("b", 2), ("a", 3)):
    message.tag.add(key=key, value=value)
vector("entries of one key, where no map is declared", "listed", Listed, written(message))

# Extensions.
extended = modules["extended"]
message = extended.Order(id=5)
message.Extensions[extended.note] = "hello"
message.Extensions[extended.counts].extend([1, 2, 3])
message.Extensions[extended.audit].by = "ada"
message.Extensions[extended.Scope.inside] = extended.PAID
message.Extensions[extended.Scope.blob] = b"\x00\xff"
message.line.sku = "x"
message.line.Extensions[extended.Scope.weight] = 2.5
vector("extensions of every kind", "extended", extended.Order, written(message))
vector("no extensions", "extended", extended.Order, written(extended.Order(id=6)))

# Messages in parts: the bytes of two messages side by side are the message of both.
parts = modules["parts"]
Parts = parts.Parts


def in_parts(name, *messages):
    halves = [written(part) for part in messages]
    vector(f"{name}, side by side", "parts", Parts, b"".join(halves))
    for field, number in (("nested", 10), ("deep", 12)):
        wrap = [written(Parts(**{field: part})) for part in messages]
        vector(f"{name}, inside of a message that is in parts ({number})", "parts", Parts, b"".join(wrap))
    one = [written(Parts(many=[Parts(nested=part)])) for part in messages]
    vector(f"{name}, in items of a list", "parts", Parts, b"".join(one))
    entry = b"".join(b"\x12" + bytes([len(half)]) + half for half in halves)
    entry = b"\x0a\x01k" + entry
    vector(f"{name}, in a map's value", "parts", Parts, b"\x72" + bytes([len(entry)]) + entry)


in_parts("a time", Parts(at={"seconds": 5}), Parts(at={"nanos": 7000000}))
in_parts("a span", Parts(took={"seconds": 5}), Parts(took={"nanos": 7000000}))
in_parts("a wrapped text, then nothing", Parts(text={"value": "first"}), Parts(text={}))
in_parts("a wrapped number", Parts(number={"value": 1}), Parts(number={"value": 2}))
in_parts("a document", Parts(extra={"fields": {"a": {"number_value": 1}}}), Parts(extra={"fields": {"b": {"bool_value": True}}}))
in_parts(
    "a value",
    Parts(value={"struct_value": {"fields": {"a": {"number_value": 1}}}}),
    Parts(value={"struct_value": {"fields": {"b": {"null_value": 0}}}}),
)
in_parts("a list", Parts(items={"values": [{"number_value": 1}]}), Parts(items={"values": [{"string_value": "b"}]}))
in_parts("a message of one's own with a time", Parts(own={"id": 1, "at": {"seconds": 9}}), Parts(own={"name": "n", "at": {"nanos": 1000}}))
in_parts("three parts", Parts(at={"seconds": 5}), Parts(number={"value": 4}), Parts(at={"nanos": 1000}, number={}))

write = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
(target / "edges.ndjson").write_text(write, encoding="utf-8")

# Messages inside of one with maps, whose places Python's serializer counts with the entries of those maps.
maps = modules["maps"]
registry = SchemaRegistryClient.new_client({"url": "mock://"})
indexed = []
for name, message in (
    ("a line", maps.Order.Line(id=77, qty=3, note="hello")),
    ("a payment", maps.Order.Payment(cents=77, rate=0.5, currency="EUR", by="ada")),
    ("a refund", maps.Order.Refund(id=1, qty=2, note="late")),
    ("the order itself", maps.Order(id=1, tags={"a": "b"})),
):
    serialize = ProtobufSerializer(type(message), registry, {})
    value = serialize(message, SerializationContext("orders", MessageField.VALUE))
    indexed.append(
        {
            "name": name,
            "from": f"confluent-kafka {confluent_kafka.__version__}, {by_google}",
            "writtenBy": f"confluent-kafka (Python) {confluent_kafka.__version__}",
            "schema": (sources / "maps.proto").read_text(),
            "message": message.DESCRIPTOR.full_name,
            "value": base64.b64encode(value).decode(),
            "json": json.loads(
                json_format.MessageToJson(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
            ),
        }
    )
write = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in indexed)
(target / "indexes.ndjson").write_text(write, encoding="utf-8")
print(f"{len(lines)} messages by {by_google}, {len(indexed)} by confluent-kafka {confluent_kafka.__version__}")
