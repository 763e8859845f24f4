"""Prints test/vectors/framing/confluent.ndjson: what confluent-kafka's serializers write (see README.md beside this file)."""

import base64
import json
from importlib.metadata import version

from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ORDER_AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
    }
)
ORDER_JSON = json.dumps(
    {
        "title": "Order",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    }
)
ORDER = {"id": 2**53, "note": "h\u00f6her"}
AVRO_PAYLOAD = bytes.fromhex("808080808080802002" + "0c68c3b6686572")

JSON_PAYLOAD = '{"id":9007199254740992,"note":"h\u00f6her"}'.encode()


def main():
    client = SchemaRegistryClient.new_client({"url": "mock://vectors"})
    types = message_types()
    for placed in ("prefix", "header"):
        conf = {"auto.register.schemas": True}
        if placed == "header":
            conf["schema.id.serializer"] = header_schema_id_serializer
        serializer = AvroSerializer(client, ORDER_AVRO, conf=conf)
        line(client, f"Avro, {placed}", "avro", serializer, ORDER, AVRO_PAYLOAD, None)
        serializer = JSONSerializer(ORDER_JSON, client, conf=conf)
        line(client, f"JSON Schema, {placed}", "json", serializer, ORDER, JSON_PAYLOAD, None)
        for name, path in (("Other", [0]), ("Order", [1]), ("Order.Line", [1, 0]), ("Order.Line.Part", [1, 0, 1])):
            message = types[name](id=150)
            proto_conf = dict(conf, **{"use.deprecated.format": False})
            serializer = ProtobufSerializer(types[name], client, conf=proto_conf)
            line(client, f"Protobuf {name}, {placed}", "proto", serializer, message, message.SerializeToString(), path)


def line(client, name, topic, serializer, value, payload, path):
    headers = []
    context = SerializationContext(topic, MessageField.VALUE, headers)
    written = serializer(value, context)
    latest = client.get_latest_version(f"{topic}-value")
    chosen = {"message": {"kind": "path", "path": path}, "payload": encoded(payload)}
    print(
        json.dumps(
            {
                "name": f"Confluent {name}",
                "from": f"confluent-kafka (Python) {version('confluent-kafka')}",
                "writtenBy": f"confluent-kafka (Python) {version('confluent-kafka')}",
                "headers": [[key, encoded(bytes(header))] for key, header in headers],
                "value": encoded(bytes(written)),
                "framing": "confluent-guid" if headers else "confluent",
                "schemaId": f"guid:{latest.guid}" if headers else latest.schema_id,
                **({"payload": encoded(payload)} if path is None else {"chosen": chosen}),
            },
            separators=(",", ":"),
        )
    )


def encoded(data):
    return {"base64": base64.b64encode(data).decode()}


def message_types():
    """Other; Order { Line { Extra, Part } }: each with a field id."""
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    add_message(file.message_type, "Other")
    order = add_message(file.message_type, "Order")
    nested = add_message(order.nested_type, "Line")
    add_message(nested.nested_type, "Extra")
    add_message(nested.nested_type, "Part")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("Other", "Order", "Order.Line", "Order.Line.Part")
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}")) for name in names}


def add_message(messages, name):
    message = messages.add(name=name)
    field = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="id", number=1, type=field.TYPE_INT64, label=field.LABEL_OPTIONAL)
    return message


main()
