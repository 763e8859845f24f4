"""Writes test/vectors/protobuf/: real Protobuf messages under Confluent's prefix, and what they mean.

Confluent's own serializer (confluent-kafka) writes the messages and registers the schemas, as descriptors in base64, in its mock registry;
protoc reads the same schemas from text. What the messages mean is said by Google's json_format. Not needed to run the tests.

    python3 -m venv venv && venv/bin/pip install 'confluent-kafka[protobuf,schemaregistry]' grpcio-tools fastavro
    venv/bin/python scripts/vectors/write_protobuf.py
"""

import base64
import gzip
import importlib
import io
import json
import pathlib
import struct
import sys
import tempfile

import confluent_kafka
import fastavro
import google.protobuf
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, json_format
from grpc_tools import protoc

root = pathlib.Path(__file__).resolve().parents[2]
target = root / "test" / "vectors" / "protobuf"
sources = target / "proto"
made_by = f"confluent-kafka {confluent_kafka.__version__}, protobuf {google.protobuf.__version__}"
text_ids = 100  # what is added to the id of a schema for its text

generated = tempfile.mkdtemp()
include = pathlib.Path(importlib.import_module("grpc_tools").__file__).parent / "_proto"
site = pathlib.Path(google.protobuf.__file__).parents[2]
files = sorted(str(path.relative_to(sources)) for path in sources.rglob("*.proto"))
# Confluent's wheel has its own messages as Python alone: protoc takes their descriptors, and what it generates their modules.
own = descriptor_pb2.FileDescriptorSet()
for module, name in (("meta", "confluent/meta_pb2.py"), ("type.decimal", "confluent/type/decimal_pb2.py")):
    full_name = f"confluent_kafka.schema_registry.confluent.{module}_pb2"
    file = importlib.import_module(full_name).DESCRIPTOR
    for needed in (*file.dependencies, file):
        if all(known.name != needed.name for known in own.file):
            needed.CopyToProto(own.file.add())
    shim = pathlib.Path(generated, name)
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(f"from {full_name} import *\n")
own_set = pathlib.Path(generated, "own.binpb")
own_set.write_bytes(own.SerializeToString())
paths = [f"-I{sources}", f"-I{include}", f"-I{site}", f"--descriptor_set_in={own_set}"]
plain = [name for name in files if name != "salesorderdetail.proto"]
status = protoc.main(["protoc", *paths[:3], f"--python_out={generated}", *plain])
status = status or protoc.main(["protoc", paths[0], paths[3], f"--python_out={generated}", "salesorderdetail.proto"])
if status != 0:
    sys.exit(status)
sys.path.insert(0, generated)
common = importlib.import_module("shop.common_pb2")
orders = importlib.import_module("shop.orders_pb2")
old = importlib.import_module("old_pb2")
detail = importlib.import_module("salesorderdetail_pb2")

registry = SchemaRegistryClient.new_client({"url": "mock://"})
schemas = {}
vectors = []


def vector(name, message, topic, text, text_references=(), **conf):
    serialize = ProtobufSerializer(type(message), registry, conf)
    value = serialize(message, SerializationContext(topic, MessageField.VALUE))
    schema_id = struct.unpack(">I", value[1:5])[0]
    keep_schema(schema_id, text, text_references)
    vectors.append(
        {
            "name": name,
            "from": made_by,
            "writtenBy": made_by.split(",")[0].replace("confluent-kafka ", "confluent-kafka (Python) "),
            "schemaId": schema_id,
            "textId": schema_id + text_ids,
            "message": message.DESCRIPTOR.full_name,
            "value": base64.b64encode(value).decode(),
            "json": json.loads(
                json_format.MessageToJson(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
            ),
        }
    )


def keep_schema(schema_id, text, text_references):
    schema = registry.get_schema(schema_id)
    references = [
        {"name": reference.name, "schema": registry.get_version(reference.subject, reference.version).schema.schema_str}
        for reference in schema.references or []
    ]
    schemas[schema_id] = {"id": schema_id, "schemaType": "PROTOBUF", "schema": schema.schema_str, "references": references}
    schemas[schema_id + text_ids] = {
        "id": schema_id + text_ids,
        "schemaType": "PROTOBUF",
        "schema": (sources / text).read_text(),
        "references": [{"name": name, "schema": (sources / name).read_text()} for name in text_references],
    }


def everything():
    order = orders.Order()
    order.id = 9007199254740993
    order.small = -2147483648
    order.unsigned = 4294967295
    order.wide = 18446744073709551615
    order.zigzag = -77
    order.zigzag_wide = -9223372036854775808
    order.fixed = 4000000000
    order.fixed_wide = 12345678901234567890
    order.sfixed = -5
    order.sfixed_wide = -1234567890123456789
    order.ratio = 1.1
    order.amount = -0.1
    order.done = True
    order.note = "h\u00e9llo \U0001f600"
    order.blob = bytes(range(40))
    order.qty = 0
    order.state = orders.Order.SHIPPED
    order.numbers.extend([1, -2, 300])
    order.loose.extend([1, -2, 300])
    order.tags.extend(["a", "", "b"])
    order.counts["a"] = 1
    order.counts["__proto__"] = 2
    order.by_number[5].sku = "five"
    order.by_number[-5].price = 2.5
    order.item.sku = "sku-1"
    order.items.add()
    order.items.add().price = 3
    order.customer.name = "Ada"
    order.customer.address.city = "London"
    order.card = "4111"
    order.at.FromJsonString("2024-08-08T11:07:19.782690123Z")
    order.took.FromJsonString("90.500s")
    order.maybe_text.value = ""
    order.maybe_number.value = -1
    order.extra.update({"a": [1, None, True, {"b": "c"}]})
    order.day.year, order.day.month, order.day.day = 2024, 2, 29
    order.time.hours, order.time.nanos = 23, 5000
    order.parent.id = 1
    return order


common_files = ["shop/common.proto"]
vector("every type", everything(), "orders", "shop/orders.proto", common_files)
vector("nothing at all", orders.Order(), "orders", "shop/orders.proto", common_files)
vector("a negative duration and a date without a day", orders.Order(took={"seconds": -1, "nanos": -5}, day={"year": 2024}), "orders", "shop/orders.proto", common_files)
vector("before the epoch", orders.Order(at={"seconds": -1, "nanos": 500000000}), "orders", "shop/orders.proto", common_files)
vector("an enum's number that nobody named", orders.Order(state=9), "orders", "shop/orders.proto", common_files)
vector("the second message of the file", orders.Shipment(order_id=5, carrier=common.Address(city="Oslo")), "orders", "shop/orders.proto", common_files)
vector("a nested message behind a map", orders.Order.Item(sku="x", price=1.5), "orders", "shop/orders.proto", common_files)
vector("a message in a nested message", orders.Order.Item.Part(code=7), "orders", "shop/orders.proto", common_files)
vector("a message of the referenced file", common.Customer(name="Bob"), "common", "shop/common.proto")
proto2 = old.Old(needed=5, text="t")
proto2.inner.a = 1
proto2.many.add().b = "x"
proto2.many.add()
proto2.packed.extend([1, 2, 3])
vector("proto2, with groups", proto2, "old", "old.proto")


def detail_rows(count):
    recordings = root / "packages" / "testkit" / "recordings" / "salesorderdetail"
    avro = {}
    for line in (recordings / "schemas.ndjson").read_text().splitlines():
        entry = json.loads(line)
        avro[entry["id"]] = fastavro.parse_schema(json.loads(entry["schema"]))
    with gzip.open(recordings / "confluent-avro.ndjson.gz", "rt") as lines:
        for _, line in zip(range(count), lines):
            value = base64.b64decode(json.loads(line)["value"])
            yield fastavro.schemaless_reader(io.BytesIO(value[5:]), avro[struct.unpack(">I", value[1:5])[0]])


def decimal(value, scale, precision):
    unscaled = int(value.scaleb(scale))
    length = unscaled.bit_length() // 8 + 1  # as Java's BigInteger.toByteArray
    return {"value": unscaled.to_bytes(length, "big", signed=True), "precision": precision, "scale": scale}


def detail_message(row):
    """The record as Confluent's ProtobufConverter maps it with optional.for.nullables: meanings of scalars are lost, decimals are not."""
    message = detail.Envelope()
    for side in ("before", "after"):
        if row[side] is not None:
            columns = dict(row[side])
            for name, scale, precision in (("unitprice", 4, 19), ("unitpricediscount", 4, 19), ("linetotal", 6, 38)):
                columns[name] = decimal(columns[name], scale, precision)
            fill(getattr(message, side), columns)
    fill(message.source, row["source"])
    if row["transaction"] is not None:
        fill(message.transaction, row["transaction"])
    fill(message, {name: row[name] for name in ("op", "ts_ms", "ts_us", "ts_ns")})
    return message


def fill(message, values):
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        elif value is not None:
            setattr(message, name, value)


for place, row in enumerate(detail_rows(25)):
    vector(f"salesorderdetail, record {place}", detail_message(row), "detail", "salesorderdetail.proto")

for name, lines in (("messages", vectors), ("schemas", [schemas[key] for key in sorted(schemas)])):
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (target / f"{name}.ndjson").write_text(text, encoding="utf-8")
print(f"{len(vectors)} messages and {len(schemas)} schemas by {made_by}")
