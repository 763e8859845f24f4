import { describe, expect, test } from "vitest";
import { chooseEncoding, chooseMediaType, essenceOf } from "./negotiate.ts";

const offers = ["application/json", "application/avro", "avro/binary"];

describe("the media type", () => {
  test.each([
    [undefined, "application/json"],
    ["", "application/json"],
    ["*/*", "application/json"],
    ["application/avro", "application/avro"],
    ["APPLICATION/Avro", "application/avro"],
    ["application/json;q=0.5, application/avro", "application/avro"],
    ["application/json; q=0.5, application/avro; q=0.4", "application/json"],
    ["application/*;q=0.1, avro/*", "avro/binary"],
    ["*/*, application/json;q=0", "application/avro"],
    ["application/*;q=0, */*;q=0.1", "avro/binary"],
    ["text/html, application/avro;q=0.001", "application/avro"],
    ["application/json;q=0", null],
    ["text/html", null],
    ["application/json;q=2", null],
    ["application/json;q=-1", null],
    ["application/json;q=0.9999", null],
    [";;;,,,", null],
  ])("for Accept %j is %j", (accept, expected) => {
    expect(chooseMediaType(accept, offers)).toBe(expected);
  });

  test("is found in time however long the header is", () => {
    expect(chooseMediaType(`${"text/html,".repeat(100_000)}application/avro`, offers)).toBe(null);
  });
});

describe("the content coding", () => {
  test.each([
    [undefined, "identity"],
    ["", "identity"],
    ["gzip", "gzip"],
    ["br;q=1.0, gzip;q=0.8", "br"],
    ["gzip, br", "gzip"],
    ["*", "gzip"],
    ["gzip;q=0, *", "br"],
    ["identity", "identity"],
    ["deflate", "identity"],
    ["identity, gzip;q=0.5", "identity"],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity;q=0", null],
    ["*;q=0", null],
    ["*;q=0, br", "br"],
    ["identity;q=0, deflate", null],
    ["gzip;q=0", "identity"],
  ])("for Accept-Encoding %j is %j", (header, expected) => {
    expect(chooseEncoding(header, ["gzip", "br"])).toBe(expected);
  });
});

test("a content type is compared without its parameters", () => {
  expect(essenceOf("Application/JSON; charset=utf-8")).toBe("application/json");
  expect(essenceOf(undefined)).toBe("");
});
