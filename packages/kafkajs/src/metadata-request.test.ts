import { expect, test } from "vitest";
import { isKafkaJsDriverError } from "./errors.ts";
import { metadataRequest } from "./metadata-request.ts";

const id = Buffer.from("0123456789abcdef");

/** A text or an array of a flexible version, whose length is written plus one. */
const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length + 1]), Buffer.from(value)]);
const list = (...items: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from([items.length + 1]), ...items]);
const zeros = (length: number): Buffer => Buffer.alloc(length);
const tagged = Buffer.from([1, 0, 2, 7, 7]); // one field of two bytes

function topicOf(errorCode: number, name: string, topicId: Buffer): Buffer {
  const partition = Buffer.concat([zeros(2 + 4 + 4 + 4), list(zeros(4), zeros(4)), list(zeros(4)), list(), tagged]);
  return Buffer.concat([Buffer.from([0, errorCode]), text(name), topicId, zeros(1), list(partition), zeros(4), tagged]);
}

/** Of a broker without a rack, in a cluster without a name, up to the tags at the end. https://kafka.apache.org/protocol#The_Messages_Metadata */
const answer = Buffer.concat([
  zeros(1 + 4),
  list(Buffer.concat([zeros(4), text("broker"), zeros(4), zeros(1), tagged])),
  zeros(1 + 4),
  list(topicOf(0, "there", id), topicOf(3, "gone", zeros(16)), topicOf(29, "hidden", zeros(16)), topicOf(0, "old", zeros(16))),
]);

const decode = metadataRequest({ 3: { minVersion: 0, maxVersion: 12 } }, ["there"])?.response.decode;

test("an answer says which topics there are, by their ids, and which are gone or hidden", async () => {
  expect(await decode?.(answer)).toEqual({
    ids: new Map([
      ["there", id.toString("base64url")],
      ["gone", null],
    ]),
    hidden: ["hidden"],
  });
});

test("an answer that is cut anywhere is an error that says so", async () => {
  for (let length = 0; length < answer.length; length++) {
    const error: unknown = await decode?.(answer.subarray(0, length)).catch((thrown: unknown) => thrown);
    expect(isKafkaJsDriverError(error) && error.code, `${length} bytes`).toBe("protocol-mismatch");
  }
});
