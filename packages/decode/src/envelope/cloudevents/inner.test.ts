import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import type { ChangeEvent } from "../../event.ts";
import type { ValueOptions } from "../../options.ts";

/** The row of an event in structured mode, whose data is this text. */
function rowOf(data: string, values: ValueOptions = {}): unknown {
  const attributes = '"id":"1","source":"/debezium/postgresql/s","specversion":"1.0","type":"x","iodebeziumop":"c"';
  const record = recordOf(`{${attributes},"datacontenttype":"application/json","data":${data}}`);
  const [event] = createDecoder({ values }).decode(record) as readonly ChangeEvent[];
  return event?.after;
}

const column = (type: string): string => `{"type":"struct","field":"after","fields":[{"field":"a",${type}}]}`;
const typed = (type: string, value: string): string =>
  `{"schema":{"type":"struct","fields":[${column(type)}]},"payload":{"after":{"a":${value}}}}`;
const decimal = '"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}';

test.each<[string, string, ValueOptions, unknown]>([
  ["a decimal that is a JSON number", typed(decimal, "12345678901234567.89"), {}, "12345678901234567.89"],
  ["a double if others are exact", typed('"type":"double"', "1.5"), { numbers: "exact" }, 1.5],
  ["an integer if integers are text", typed('"type":"int64"', "9007199254740993"), { int64: "string" }, "9007199254740993"],
  ["a number without a schema", '{"before":null,"after":{"a":1.10}}', { numbers: "exact" }, "1.10"],
  ["a text that looks like a number", '{"before":null,"after":{"a":"1.10"}}', { int64: "string" }, "1.10"],
])("data is read from its own text: %s", (_name, data, values, value) => {
  expect(rowOf(data, values)).toEqual({ a: value });
});
