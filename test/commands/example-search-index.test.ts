import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExampleService, exampleEnvironment, startExample, withStackForExamples } from "./example-service.ts";

const found = await withStackForExamples();

interface Answer {
  readonly books: number;
  readonly found: readonly { readonly id: string; readonly title: string }[];
}

describe.skipIf(found.skip !== false)("the example of a search index", { meta: { skipReason: String(found.skip) } }, () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-search-"));
  const env = { ...(found.skip === false ? exampleEnvironment(found.part) : {}), DATA_DIR: folder };
  let database: pg.Client;

  beforeAll(async () => {
    if (found.skip !== false) return;
    database = new pg.Client({ ...found.part.postgres });
    await database.connect();
    await database.query(`insert into shop.books values (1, 'Frankenstein', 'Mary Shelley', 'A scientist gives life to a creature.'),
      (2, 'Dracula', 'Bram Stoker', 'A count moves to England.'), (3, 'Moby-Dick', 'Herman Melville', 'A captain hunts a white whale.')`);
  });
  afterAll(async () => {
    await database?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Waits until the index has so many books, and finds these. */
  function untilFound(service: ExampleService, query: string, books: number, ids: readonly (number | bigint)[]): Promise<void> {
    return service.until<Answer>(`/search?q=${encodeURIComponent(query)}`, (answer) =>
      expect([answer.books, answer.found.map(({ id }) => id)]).toEqual([books, ids.map(String)]),
    );
  }

  /** Waits until the service says that it has indexed these. */
  const untilIndexed = (service: ExampleService, fits: (ids: readonly unknown[]) => void): Promise<void> =>
    service.untilLogged((lines) => fits(lines.filter(({ msg }) => msg === "indexed").flatMap(({ ids }) => (ids as string[]).map(Number))));

  test("finds what is in the table, and not what was", async () => {
    const service = await startExample("search-index", env);
    await untilFound(service, "wale", 3, [3]);
    await database.query("update shop.books set summary = 'A captain and a white wall.' where id = 3");
    await database.query("insert into shop.books values (4, 'Walden', 'Henry David Thoreau', 'Two years by a pond.')");
    await untilFound(service, "pond", 4, [4]);
    await untilFound(service, "hunts", 4, []);
    await database.query("delete from shop.books where id = 1");
    await untilFound(service, "creature", 3, []);
    await database.query("insert into shop.books values (9007199254740993, 'Ficciones', 'Jorge Luis Borges', 'A library without an end.')");
    await untilFound(service, "library", 4, [9007199254740993n]);
    expect((await fetch(`${service.url}/search`)).status).toBe(400);
    expect(await service.stop()).toBe(0);
  });

  test("goes on where its file ends: after a stop, after a kill, and from the start without the file", async () => {
    await database.query("insert into shop.books values (5, 'Emma', 'Jane Austen', 'A matchmaker is wrong about most people.')");
    const second = await startExample("search-index", env);
    await second.untilLogged((lines) => expect(lines.find(({ msg }) => msg === "index opened")).toMatchObject({ books: 4 }));
    await untilFound(second, "matchmaker", 5, [5]);
    await untilIndexed(second, (ids) => expect(ids).toEqual([5])); // and nothing of what the file has
    await second.stop("SIGKILL");

    await database.query("delete from shop.books where id = 2");
    const third = await startExample("search-index", env);
    await untilFound(third, "count", 4, []);
    await untilFound(third, "matchmaker", 4, [5]); // whether or not it was saved before the kill
    await untilIndexed(third, (ids) => expect([ids.includes(2), ids.includes(3)]).toEqual([true, false])); // 2 is the delete
    expect(await third.stop()).toBe(0);

    rmSync(join(folder, "cdckit-search-index.json"));
    const fourth = await startExample("search-index", env);
    await untilFound(fourth, "matchmaker", 4, [5]);
    await untilIndexed(fourth, (ids) => expect([1, 2, 3, 4, 5].filter((id) => !ids.includes(id))).toEqual([]));
    expect(await fourth.stop()).toBe(0);
  });
});
