import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { fromStatement, isPostgresSinkError, PostgresRefusal } from "./errors.ts";

/** As pg makes it of what PostgreSQL says: every sentence quotes the row. */
function databaseError(code: string): Error {
  return Object.assign(new Error('invalid input syntax for type integer: "hunter2"'), {
    code,
    severity: "ERROR",
    detail: "Failing row contains (1, hunter2).",
    hint: "hunter2",
    where: "unnamed portal parameter $1 = '{hunter2}'",
    internalQuery: "select 'hunter2'",
    schema: "public",
    table: "orders",
    column: "note",
    constraint: "orders_note_check",
    dataType: undefined,
    file: "execMain.c",
    routine: "ExecConstraints",
  });
}

describe("what PostgreSQL refuses", () => {
  test.each(["23514", "22P02", "40001", "42804", "E0001"])(
    "with %s is told by names and its code, wherever one looks for a value",
    (code) => {
      const error = fromStatement(databaseError(code), "writing to orders");
      const everything = inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error.cause) + String(error.stack);
      expect(everything).not.toContain("hunter2");
      expect(error.cause).toBeInstanceOf(PostgresRefusal);
      expect(error.cause).toMatchObject({ code, about: { table: "orders", column: "note", constraint: "orders_note_check" } });
    },
  );

  test("is rejected where the row is to blame, and unavailable where another attempt may go well", () => {
    expect(fromStatement(databaseError("23514"), "writing")).toMatchObject({ code: "rejected", retriable: false });
    expect(fromStatement(databaseError("E0001"), "writing")).toMatchObject({ code: "rejected", retriable: false }); // of a trigger
    expect(fromStatement(databaseError("40001"), "writing")).toMatchObject({ code: "unavailable", retriable: true });
  });

  test("is not what pg cannot write down, which is as large when it is tried again", () => {
    const error = new RangeError("Invalid string length");
    expect(fromStatement(error, "writing")).toMatchObject({ code: "rejected", retriable: false, cause: error });
    expect(fromStatement(error, "writing").message).toContain("batch.maxBytes");
  });

  test("is a statement that is longer than PostgreSQL reads, although it only closes the connection", () => {
    const error = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const columnOf = (texts: number): readonly string[] => Array.from<string>({ length: texts }).fill("\u00e9".repeat(2 ** 20)); // 2 MiB each
    const values = [columnOf(200), [...columnOf(56), null]];
    expect(fromStatement(error, "writing", { values })).toMatchObject({ code: "rejected", retriable: false, cause: error });
    expect(fromStatement(error, "writing", { values }).message).toContain("batch.maxBytes");
    expect(fromStatement(error, "writing", { values: [columnOf(200)] })).toMatchObject({ code: "unavailable", retriable: true });
  });

  test("says in its message which column and constraint it is about, which logs and health() show", () => {
    expect(fromStatement(databaseError("23514"), "writing to orders").message).toBe(
      '[rejected] writing to orders: PostgreSQL refused it with SQLSTATE 23514 (column "note", constraint "orders_note_check"); the appendix of ' +
        "error codes in PostgreSQL's manual says what it means",
    );
  });

  test.each([
    ["55P03", "another session holds a lock"],
    ["57014", "statement_timeout"],
    ["0A000", "a rule"],
    ["53100", "disk is full"],
    ["53200", "max_locks_per_transaction"],
    ["53300", "no connection left"],
    ["57P01", "shuts down"],
    ["57P03", "a standby that lets nobody in"],
    ["25006", "read-only"],
    ["25P03", "stood still"],
    ["42501", "lacks a right"],
    ["42P10", "no primary key"],
    ["42883", "search_path"],
    ["22021", "U+0000"],
    ["44000", "with check option"],
  ])("says in words what %s is", (code, words) => {
    expect(fromStatement(databaseError(code), "writing").message).toContain(words);
  });

  test.each([
    ["CERT_HAS_EXPIRED", "its certificate has expired (CERT_HAS_EXPIRED): it must be renewed"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE): name the authority in ssl.ca"],
    [
      "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
      "it refuses the TLS handshake (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA): does it trust the client's certificate",
    ],
  ])("says what is wrong with TLS if Node says %s", (code, words) => {
    expect(fromStatement(Object.assign(new Error("tls"), { code }), "connecting").message).toContain(words);
  });

  test("says that the constraint over the key is deferrable, which no upsert can use", () => {
    const error = Object.assign(databaseError("55000"), { constraint: "orders_pkey" });
    expect(fromStatement(error, "writing").message).toContain('constraint "orders_pkey"), the constraint is deferrable');
  });

  test("says that nothing is written through a view, of which PostgreSQL names no constraint", () => {
    const error = Object.assign(databaseError("55000"), { constraint: undefined });
    expect(fromStatement(error, "writing").message).toContain("it is a view that PostgreSQL cannot write through");
  });

  test("says that a partitioned table has no partition for a row, of which PostgreSQL names no constraint", () => {
    const error = Object.assign(databaseError("23514"), { constraint: undefined });
    expect(fromStatement(error, "writing").message).toContain(
      "the table has no partition for a row (create it, or a default one), or is itself",
    );
  });

  test.each([
    ["password authentication failed", "check user and password"],
    ['password authentication failed for user "hunter2"', "check user and password"],
    ["SASL authentication failed", "check user and password"],
    ["no such database: hunter2", "check the database"],
    ['database "hunter2" does not exist', "check the database"],
    ["transaction blocks not allowed in statement pooling mode", "pool_mode"],
    ["unsupported startup parameter: options", "ignore_startup_parameters"],
  ])("is a refused login where a pooler says %j, whose code is the same for everything", (message, advice) => {
    const error = fromStatement(Object.assign(new Error(message), { code: "08P01" }), "connecting");
    expect(error).toMatchObject({ code: "login-failed", retriable: false, cause: { code: "08P01" } });
    expect(error.message).toContain(advice);
    expect(error.message).not.toContain("hunter2");
  });

  test.each(["query_wait_timeout", "no more connections allowed (max_client_conn)", "server login has been failing, try again later"])(
    "is waited for where a pooler says %j, and its log is named",
    (message) => {
      const error = fromStatement(Object.assign(new Error(message), { code: "08P01" }), "connecting");
      expect(error).toMatchObject({ code: "unavailable", retriable: true });
      expect(error.message).toContain("a pooler in between (PgBouncer)");
    },
  );

  test("a database that lets nobody connect for a while is waited for", () => {
    expect(fromStatement(databaseError("55000"), "connecting", { isConnection: true })).toMatchObject({
      code: "unavailable",
      retriable: true,
    });
    expect(fromStatement(databaseError("55000"), "writing")).toMatchObject({ code: "rejected", retriable: false });
  });

  test("a statement that the server has cancelled is tried again: what it waited for passes", () => {
    expect(fromStatement(databaseError("57014"), "writing")).toMatchObject({ code: "unavailable", retriable: true });
  });

  test("is not what Node's own codes say, also where they have five characters", () => {
    const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    expect(fromStatement(broken, "writing")).toMatchObject({ code: "unavailable", cause: broken });
  });

  test.each([
    new Error("Cannot use a pool after calling end on the pool"),
    Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL" }),
    new URIError("URI malformed"),
  ])("is not what pg refuses by itself, which no other attempt mends: %s", (refused) => {
    expect(fromStatement(refused, "writing")).toMatchObject({ code: "login-failed", retriable: false, cause: refused });
  });

  test.each(["Connection terminated unexpectedly", "timeout exceeded when trying to connect", "words of another library"])(
    "may be a lost connection where only words tell of it: %s",
    (words) => {
      expect(fromStatement(new Error(words), "writing")).toMatchObject({ code: "unavailable", retriable: true });
    },
  );

  test("keeps an error of the sink's own as it is", () => {
    const own = fromStatement(databaseError("23514"), "writing");
    expect(fromStatement(own, "committing")).toBe(own);
    expect(isPostgresSinkError(own)).toBe(true);
  });
});

test("a connection that pg has lost is named in pg's own words, which have no code, and nobody else's words are shown", () => {
  const messageOf = (message: string): string => fromStatement(new Error(message), "connecting").message;
  expect(messageOf("Connection terminated unexpectedly")).toBe(
    "[unavailable] connecting: PostgreSQL could not be reached (Connection terminated unexpectedly); the batch is tried again",
  );
  expect(messageOf("timeout exceeded when trying to connect")).toContain("(timeout exceeded when trying to connect)");
  expect(messageOf("row {secret}")).toBe("[unavailable] connecting: PostgreSQL could not be reached; the batch is tried again");
});
