import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type ConfluentClient, type ConfluentSchemaInfo, createRegistry, fromConfluentClient } from "./index.ts";
import { answers, failureOf, json, recordAnswer, serve } from "./registry-server.contract.ts";

/**
 * A twin of the `SchemaRegistryClient` of `@confluentinc/schemaregistry`: its method signatures, its paths and its `RestError`. The real
 * package brings 170 MB of cloud libraries, so it is not installed here; 1.10.1 was put through these same cases by hand, with the same
 * outcome, and its class was assigned to `ConfluentClient` under the compiler's strict flags.
 */
class ClientTwin implements ConfluentClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async getBySubjectAndId(subject: string, id: number, format?: string): Promise<ConfluentSchemaInfo> {
    const formatText = format === undefined ? "" : `&format=${format}`;
    return this.#get(`/schemas/ids/${id}?subject=${encodeURIComponent(subject)}${formatText}`);
  }

  async getByGuid(guid: string): Promise<ConfluentSchemaInfo> {
    return this.#get(`/schemas/guids/${guid}`);
  }

  async getAllSubjects(): Promise<readonly string[]> {
    return (await this.#get("/subjects")) as unknown as readonly string[];
  }

  async getSchemaMetadata(subject: string, version: number, deleted: boolean): Promise<ConfluentSchemaInfo> {
    return this.#get(`/subjects/${encodeURIComponent(subject)}/versions/${version}?deleted=${deleted}`);
  }

  async #get(path: string): Promise<ConfluentSchemaInfo> {
    const response = await fetch(this.#url + path);
    const answer = (await response.json()) as ConfluentSchemaInfo & { readonly error_code: number; readonly message: string };
    if (!response.ok) {
      const restError = new Error(`${answer.message}; Error code: ${answer.error_code}`);
      throw Object.assign(restError, { status: response.status, errorCode: answer.error_code });
    }
    return answer;
  }
}

describe("a client of @confluentinc/schemaregistry", () => {
  test("gives the same as our own client, references included", async () => {
    const root = { schema: "root", schemaType: "PROTOBUF", references: [{ name: "a.proto", subject: "inv/a b", version: 2 }] };
    const a = { schema: "a", references: [{ name: "b.proto", subject: "b", version: 1 }] };
    const server = await serve(
      answers({
        "/schemas/ids/7": root,
        "/subjects/inv%2Fa%20b/versions/2": a,
        "/subjects/b/versions/1": { schema: "b" },
        "/schemas/ids/7?subject=": root,
        "/subjects/inv%2Fa%20b/versions/2?deleted=true": a,
        "/subjects/b/versions/1?deleted=true": { schema: "b" },
      }),
    );
    const schemas = fromConfluentClient(new ClientTwin(server.url));
    expect(await schemas.load(7)).toEqual(await createRegistry({ url: server.url }).load(7));
    expect(schemas.peek(7)?.references?.map((reference) => reference.name)).toEqual(["b.proto", "a.proto"]);
  });

  test("asks for a GUID, and within a context", async () => {
    const guid = "6a7f2d3e-0b1c-4d5e-8f90-112233445566";
    const server = await serve(
      answers({ [`/schemas/guids/${guid}`]: recordAnswer("A"), "/schemas/ids/1?subject=%3A.eu%3A": recordAnswer("B") }),
    );
    const schemas = fromConfluentClient(new ClientTwin(server.url), { subject: ":.eu:" });
    expect((await schemas.load(guid)).schema).toContain('"A"');
    expect((await schemas.load(1)).schema).toContain('"B"');
  });

  test("asks once for a thousand that wait, and not at all for what it cannot name", async () => {
    const server = await serve(answers({ "/schemas/ids/7?subject=": recordAnswer("Order") }));
    const schemas = fromConfluentClient(new ClientTwin(server.url));
    await Promise.all(Array.from({ length: 1_000 }, () => schemas.load(7)));
    expect((await failureOf(schemas.load("x"))).code).toBe("refused");
    expect(server.requests.length).toBe(1);
  });

  test.each([
    [404, "not-found"],
    [403, "refused"],
    [500, "unavailable"],
  ])("tells what a status of %i means", async (status, code) => {
    const server = await serve((_, response) => json(response, status, { error_code: 40403, message: "x" }));
    expect(await failureOf(fromConfluentClient(new ClientTwin(server.url)).load(7))).toMatchObject({ code, status });
  });

  const guid = "6a7f2d3e-0b1c-4d5e-8f90-112233445566";
  test.each<[string, string, Readonly<Record<string, unknown>>]>([
    ["of a registry without the path says that there is no such schema", "not-found", { "/subjects": ["a"] }],
    ["remains an outage where nothing answers as a registry", "unavailable", {}],
    ["remains an outage beside another service's answers", "unavailable", { "/subjects": { a: 1 } }],
  ])("a 404 to a GUID %s", async (_, code, others) => {
    const server = await serve(({ url = "" }, response) =>
      url in others ? json(response, 200, others[url]) : json(response, 404, { error_code: 404, message: "HTTP 404 Not Found" }),
    );
    const failure = await failureOf(fromConfluentClient(new ClientTwin(server.url)).load(guid));
    expect(failure).toMatchObject({ code, status: 404, isRegistry: code === "not-found" });
  });

  test("a 404 without a registry's code to the number of a schema remains an outage", async () => {
    const server = await serve(({ url }, response) =>
      url === "/subjects" ? json(response, 200, ["a"]) : json(response, 404, { error_code: 404, message: "HTTP 404 Not Found" }),
    );
    expect(await failureOf(fromConfluentClient(new ClientTwin(server.url)).load(7))).toMatchObject({ code: "unavailable" });
  });

  test("shows nothing of the configuration that its HTTP client hangs on an error", async () => {
    const config = { headers: { Authorization: "Basic canary" }, auth: { password: "canary" } };
    const failing = async (): Promise<never> => {
      throw Object.assign(new Error("connect ECONNREFUSED canary"), { code: "ECONNREFUSED", config });
    };
    const failure = await failureOf(fromConfluentClient({ getBySubjectAndId: failing, getSchemaMetadata: failing }).load(7));
    expect(failure.code).toBe("unavailable");
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain("canary");
  });

  test("is told from something else at once", () => {
    expect(() => fromConfluentClient({} as ConfluentClient)).toThrow("expects a SchemaRegistryClient");
  });

  test("is given no subject that it could not ask for: each schema would be an outage", () => {
    const twin = new ClientTwin("http://registry.test");
    expect(() => fromConfluentClient(twin, { subject: "\ud800" })).toThrow(
      new TypeError("subject has half of a surrogate pair, and the client could not ask for it: correct it"),
    );
  });
});
