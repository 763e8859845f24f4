import { describe, expect, test } from "vitest";
import { createRegistry } from "./index.ts";
import { answers, failureOf, json, serve } from "./registry-server.contract.ts";

/** What a registry holds: a subject's only version, and the subjects that it refers to. */
function version(subject: string, refersTo: readonly string[]): unknown {
  return { subject, version: 1, id: 1, schema: `schema of ${subject}`, references: links(refersTo) };
}

function links(subjects: readonly string[]): unknown {
  return subjects.map((subject) => ({ name: `ns.${subject}`, subject, version: 1 }));
}

function holding(graph: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  const { root, ...subjects } = graph;
  const byPath: Record<string, unknown> = { "/schemas/ids/7": { schema: "schema of root", references: links(root ?? []) } };
  for (const [subject, refersTo] of Object.entries(subjects)) {
    byPath[`/subjects/${subject}/versions/1`] = version(subject, refersTo);
  }
  return byPath;
}

describe("a schema that refers to others", () => {
  test("brings them along, what is referred to before what refers to it, each once", async () => {
    const server = await serve(answers(holding({ root: ["a", "b"], a: ["c"], b: ["c", "a"], c: [] })));
    const schema = await createRegistry({ url: server.url }).load(7);
    expect(schema.references).toEqual(["c", "a", "b"].map((subject) => ({ name: `ns.${subject}`, schema: `schema of ${subject}` })));
    expect(server.requests.length).toBe(4);
  });

  test("finds a version that was deleted softly", async () => {
    const byPath = holding({ root: ["a"] });
    byPath["/subjects/a/versions/1?deleted=true"] = version("a", []);
    const server = await serve(answers(byPath));
    expect((await createRegistry({ url: server.url }).load(7)).references?.length).toBe(1);
  });

  test("names the subject that is missing, on one line", async () => {
    const byPath = { "/schemas/ids/7": { schema: "x", references: [{ name: "n", subject: `a\n${"b".repeat(1_000)}`, version: 2 }] } };
    const server = await serve(answers(byPath));
    const failure = await failureOf(createRegistry({ url: server.url }).load(7));
    expect(failure).toMatchObject({ code: "not-found", id: 7, isCertain: false }); // schema 7 is there: nothing else has its id
    expect(failure.message).toContain('subject "a\\nbbb');
    expect(failure.message).toContain("version 2, which schema id 7 refers to");
    expect(failure.message.length).toBeLessThan(500);
  });

  test("is refused where the name of one has half of a surrogate pair, which no path can have", async () => {
    const server = await serve(answers({ "/schemas/ids/7": { schema: "x", references: [{ name: "n", subject: "\ud800", version: 1 }] } }));
    const failure = await failureOf(createRegistry({ url: server.url }).load(7));
    expect(failure).toMatchObject({ code: "refused", retriable: false, id: 7 }); // an outage would be waited for without end
    expect(failure.message).toContain("has references that are not a list of name, subject and version");
    expect(server.requests.length).toBe(1);
  });

  test("names subjects with whole surrogate pairs", async () => {
    const path = `/subjects/${encodeURIComponent("\u{1f9c0}")}/versions/1`;
    const references = [{ name: "n", subject: "\u{1f9c0}", version: 1 }];
    const server = await serve(answers({ "/schemas/ids/7": { schema: "x", references }, [path]: { schema: "y" } }));
    expect((await createRegistry({ url: server.url }).load(7)).references).toEqual([{ name: "n", schema: "y" }]);
  });

  test.each<[string, Record<string, readonly string[]>]>([
    ["itself", { root: ["a"], a: ["a"] }],
    ["each other", { root: ["a"], a: ["b"], b: ["a"] }],
    ["each other behind others", { root: ["x", "a"], x: [], a: ["b"], b: ["c"], c: ["x", "b"] }],
  ])("is refused where those refer to %s", async (_, graph) => {
    const server = await serve(answers(holding(graph)));
    const failure = await failureOf(createRegistry({ url: server.url }).load(7));
    expect(failure.code).toBe("refused");
    expect(failure.message).toContain("refers to itself in a circle");
    expect(server.requests.length).toBeLessThanOrEqual(Object.keys(graph).length);
  });

  test("is refused where they are too many, before the first of a list is fetched", async () => {
    const many = Array.from({ length: 65 }, (_, index) => `s${index}`);
    const server = await serve(answers(holding({ root: many })));
    const failure = await failureOf(createRegistry({ url: server.url }).load(7));
    expect(failure.code).toBe("refused");
    expect(failure.message).toContain("more than 64 other schemas (maxReferences)");
    expect(server.requests.length).toBe(1);
  });

  test("is refused where every one of them refers to two more, without following them all", async () => {
    const server = await serve((request, response) => {
      const path = request.url ?? "";
      const at = path.startsWith("/subjects/") ? (path.split("/")[2] ?? "") : "s";
      json(response, 200, version(at, [`${at}0`, `${at}1`]));
    });
    expect((await failureOf(createRegistry({ url: server.url }).load(7))).message).toContain("maxReferences");
    expect(server.requests.length).toBeLessThanOrEqual(65);
  });

  test("is read where diamonds are stacked on diamonds, because each is fetched once", async () => {
    const graph: Record<string, readonly string[]> = { root: ["l0", "r0"] };
    for (let level = 0; level < 30; level++) {
      const below = level === 29 ? [] : [`l${level + 1}`, `r${level + 1}`];
      graph[`l${level}`] = below;
      graph[`r${level}`] = below;
    }
    const server = await serve(answers(holding(graph)));
    expect((await createRegistry({ url: server.url }).load(7)).references?.length).toBe(60);
    expect(server.requests.length).toBe(61);
  });

  test.each([
    ["item", "money"],
    ["money", "item"],
  ])("takes the version of a name that it meets first, as the registry does: it refers to %s before %s", async (...order) => {
    // The item was registered when money had one version, and the order when it had two.
    const versions: Readonly<Record<string, number>> = { item: 1, money: 2 };
    const server = await serve(
      answers({
        "/schemas/ids/7": { schema: "order", references: order.map((name) => ({ name, subject: name, version: versions[name] })) },
        "/subjects/item/versions/1": { schema: "item 1", references: [{ name: "money", subject: "money", version: 1 }] },
        "/subjects/money/versions/1": { schema: "money 1" },
        "/subjects/money/versions/2": { schema: "money 2" },
      }),
    );
    const money = { name: "money", schema: order[0] === "item" ? "money 1" : "money 2" };
    expect((await createRegistry({ url: server.url }).load(7)).references).toEqual([money, { name: "item", schema: "item 1" }]);
  });

  test("is refused where all of them together weigh more than one answer may", async () => {
    const byPath = holding({ root: ["a", "b"], a: [], b: [] });
    for (const subject of ["a", "b"]) {
      byPath[`/subjects/${subject}/versions/1`] = { schema: "x".repeat(6_000) };
    }
    const server = await serve(answers(byPath));
    const failure = await failureOf(createRegistry({ url: server.url, maxBodyBytes: 10_000 }).load(7));
    expect(failure.code).toBe("refused");
    expect(failure.message).toContain("is larger than 10000 bytes with its references");
  });
});
