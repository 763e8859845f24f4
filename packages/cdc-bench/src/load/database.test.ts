import { describe, expect, test } from "vitest";
import { openDatabase } from "./database.ts";

describe("a database", () => {
  // Through pg and mysql2, the clients that users bring.
  test.each(["postgres", "mariadb"])("of %s that does not answer is told with its place, and without the password", async (scheme) => {
    const opening = openDatabase(`${scheme}://reader:secret@127.0.0.1:1/shop`);
    await expect(opening).rejects.toMatchObject({
      code: "connection",
      detail: "the database at 127.0.0.1:1 does not answer: is it running there?",
    });
    await expect(opening).rejects.not.toThrow(/secret/);
  });

  test("of another kind is refused with those that there are", async () => {
    await expect(openDatabase("oracle://reader@localhost/shop")).rejects.toMatchObject({
      code: "usage",
      detail: expect.stringContaining("postgres:// or mariadb://"),
    });
  });
});
