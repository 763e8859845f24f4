import { runInNewContext } from "node:vm";
import { DecodeError } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { ConsumerError } from "../errors.ts";
import { classify, classifyAtSink, type FailureKind } from "./classify.ts";

function errorWith(fields: object, message = "no"): Error {
  return Object.assign(new Error(message), fields);
}

/** In the form in which a sink reports what its database said. */
function refused(sqlState: string): Error {
  return Object.assign(new Error("[rejected]", { cause: errorWith({ code: sqlState }) }), { code: "rejected", retriable: false });
}

describe("the kind of failure that an error is", () => {
  const cases: readonly (readonly [string, unknown, FailureKind])[] = [
    ["bytes that do not decode", new DecodeError("malformed", "x"), "poison"],
    ["a schema that does not fit", new DecodeError("schema-mismatch", "x"), "poison"],
    ["a registry that is down", new DecodeError("schema-unavailable", "x"), "outage"],
    ["a schema id that nobody knows", new DecodeError("schema-not-found", "x"), "unknown-schema"],
    ["a registry that refuses us", new DecodeError("schema-refused", "x"), "permanent"],
    ["a row that its validator refuses", new ConsumerError("invalid-row", "x"), "poison"],
    ["a refused connection", errorWith({ code: "ECONNREFUSED" }), "transient"],
    ["fetch hiding a refused connection", new TypeError("fetch failed", { cause: errorWith({ code: "ECONNREFUSED" }) }), "transient"],
    [
      "each of several addresses refused, as Promise.any says it",
      new AggregateError([errorWith({ code: "ECONNREFUSED" })], "All promises were rejected"),
      "transient",
    ],
    ["a request that its signal timed out", new DOMException("The operation was aborted due to timeout", "TimeoutError"), "transient"],
    ["a mistake in a program, as Node throws it into a test of Jest", runInNewContext("new TypeError('x')"), "poison"],
    [
      "a time-out by the name alone, of another realm",
      runInNewContext("Object.assign(new Error('x'), { name: 'TimeoutError' })"),
      "transient",
    ],
    ["a time-out by the name alone", errorWith({ name: "TimeoutError" }), "transient"],
    ["no local port left", errorWith({ code: "EADDRNOTAVAIL" }), "transient"],
    ["no file descriptor left on the machine", errorWith({ code: "ENFILE" }), "transient"],
    ["a host that is down", errorWith({ code: "EHOSTDOWN" }), "transient"],
    ["undici: a client that is closed", errorWith({ code: "UND_ERR_CLOSED" }), "transient"],
    ["undici: a client that is destroyed", errorWith({ code: "UND_ERR_DESTROYED" }), "transient"],
    ["MySQL: a query that timed out", errorWith({ code: "PROTOCOL_SEQUENCE_TIMEOUT" }), "transient"],
    ["PostgreSQL: deadlock", errorWith({ code: "40P01" }), "transient"],
    ["PostgreSQL: a transaction whose process stood still", errorWith({ code: "25P03" }), "transient"],
    ["PostgreSQL: the server shuts down", errorWith({ code: "57P01" }), "transient"],
    ["PostgreSQL: unique violation", errorWith({ code: "23505" }), "poison"],
    ["PostgreSQL: wrong password", errorWith({ code: "28P01" }), "permanent"],
    ["PostgreSQL: a missing right", errorWith({ code: "42501" }), "permanent"],
    ["PostgreSQL: no such table", errorWith({ code: "42P01" }), "unclear"],
    ["HTTP 503", errorWith({ status: 503 }), "transient"],
    ["HTTP 429", errorWith({ statusCode: 429 }), "transient"],
    ["HTTP 422", errorWith({ status: 422 }), "poison"],
    ["HTTP 403", errorWith({ status: 403 }), "permanent"],
    ["a client that says it can be retried", errorWith({ retriable: true }), "transient"],
    ["a sink that was fenced", errorWith({ code: "fenced" }), "permanent"],
    ["a sink whose database is away", errorWith({ code: "unavailable", retriable: true }), "outage"],
    ["a sink whose database refuses a row", refused("23502"), "poison"],
    ["a sink whose database lacks a table", refused("42P01"), "unclear"],
    ["a sink whose database refuses us", refused("28P01"), "permanent"],
    ["a sink that lacks a right", refused("42501"), "permanent"],
    ["a sink whose table has no unique constraint", refused("42P10"), "poison"],
    ...["key-missing", "schema-mismatch", "row-incomplete", "truncate-refused"].map(
      (code) => [`a sink that says ${code}`, errorWith({ code, retriable: false }), "poison"] as const,
    ),
    ...["pg-missing", "not-claimed", "checkpoint-lost", "invalid-option"].map(
      (code) => [`a sink that says ${code}`, errorWith({ code, retriable: false }), "permanent"] as const,
    ),
    ["an error of a handler's own that has such a code", errorWith({ code: "schema-mismatch" }), "unclear"],
    ["a tombstone of which nothing says yet whose it is", new ConsumerError("table-unknown", "x"), "unclear"],
    ["a sink that says the same", errorWith({ code: "table-unknown", retriable: false }), "unclear"],
    ["a programmer's mistake", new TypeError("x is not a function"), "poison"],
    ["anything else", new Error("no"), "unclear"],
    ["something that is no error", "no", "unclear"],
    ["nothing at all", undefined, "unclear"],
  ];

  test.each(cases)("%s", (_name, error, kind) => {
    expect(classify(error)).toBe(kind);
  });

  test("the user is asked first", () => {
    expect(classify(new TypeError("x"), () => true)).toBe("unclear");
    expect(classify(errorWith({ status: 403 }), () => true)).toBe("unclear");
    expect(classify(errorWith({ code: "ECONNRESET" }), () => false)).toBe("poison");
    expect(classify(errorWith({ code: "ECONNRESET" }), () => undefined)).toBe("transient");
  });

  test.each([
    ["outage", new DecodeError("schema-unavailable", "x")],
    ["unknown-schema", new DecodeError("schema-not-found", "x")],
    ["transient", errorWith({ code: "ECONNRESET" })],
    ["permanent", new ConsumerError("unhandled-event", "x")],
  ] as const)("a user who says that it can be retried does not make of an %s failure the record's fault", (kind, error) => {
    expect(classify(error, () => true)).toBe(kind);
  });

  test.each([
    ["outage", new DecodeError("schema-unavailable", "x")],
    ["unknown-schema", new DecodeError("schema-not-found", "x")],
    ["outage", errorWith({ code: "unavailable", retriable: true })],
    ["permanent", new DecodeError("schema-refused", "x")],
    ["permanent", new ConsumerError("unhandled-event", "x")],
    ["permanent", new ConsumerError("callback-failed", "x")],
  ] as const)("a user who knows no other error than theirs does not make an %s a dead letter: %s", (kind, error) => {
    expect(classify(error, () => false)).toBe(kind);
  });

  test("a chain of causes that leads back to itself ends", () => {
    const error = new Error("a");
    error.cause = error;
    expect(classify(error)).toBe("unclear");
  });
});

describe("what a sink threw", () => {
  test.each([
    ["a refused connection", errorWith({ code: "ECONNREFUSED" })],
    ["a time-out behind the sink's own error", Object.assign(new Error("no"), { cause: errorWith({ code: "ETIMEDOUT" }) })],
    ["a request that its signal timed out", new DOMException("x", "TimeoutError")],
    ["a host that is down", errorWith({ code: "EHOSTDOWN" })],
    ["no local port left", errorWith({ code: "EADDRNOTAVAIL" })],
    ["undici: a client that is closed", errorWith({ code: "UND_ERR_CLOSED" })],
    ["MySQL: a query that timed out", errorWith({ code: "PROTOCOL_SEQUENCE_TIMEOUT" })],
    ["a database that starts", errorWith({ code: "57P03" })],
    ["a gateway that has nobody behind it", errorWith({ status: 502 })],
    ["its own word for it", errorWith({ code: "unavailable", retriable: true })],
  ])("%s is an outage: no record is to blame", (_, error) => {
    expect(classifyAtSink(error)).toBe("outage");
  });

  test.each([
    ["a deadlock", errorWith({ code: "40P01" }), "transient"],
    ["a constraint", errorWith({ code: "23505" }), "poison"],
    ["an error that says nothing", new Error("who knows"), "unclear"],
    ["a refused connection that the user calls retriable", errorWith({ code: "ECONNREFUSED" }), "outage", (): boolean => true],
    ["a refused connection that the user calls final", errorWith({ code: "ECONNREFUSED" }), "poison", (): boolean => false],
  ] as const)("%s is what it is of a handler", (_, error, kind, isRetriable?: () => boolean) => {
    expect(classifyAtSink(error, isRetriable)).toBe(kind);
  });
});
