import { expect, test } from "vitest";
import { claimCheckOf } from "./claim-check.ts";

// The form that S3LargeMessagePostProcessor writes: a prefix, the bucket, a bar, and the object's key.
const reference = "__debezium:s3:ref:v1:media|/db=shop/table=photos/lsn=12/data/after";
const place = { bucket: "media", key: "/db=shop/table=photos/lsn=12/data/after" };

test.each<[string, unknown]>([
  ["text", reference],
  ["bytes", Buffer.from(reference)],
  ["bytes in JSON", Buffer.from(reference).toString("base64")],
])("a reference that is %s says where the value is", (_, value) => {
  expect(claimCheckOf(value)).toEqual(place);
});

test("the object's key may contain bars", () => {
  expect(claimCheckOf("__debezium:s3:ref:v1:b|a|b")).toEqual({ bucket: "b", key: "a|b" });
});

test.each([null, undefined, 1, "", "text", "__debezium:s3:ref:v1:", "__debezium:s3:ref:v1:bucket", Buffer.from("__debezium"), {}])(
  "%j is none",
  (value) => {
    expect(claimCheckOf(value)).toBe(null);
  },
);
