import { type AddressInfo, createServer, type Socket } from "node:net";
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

  test.each(["postgres", "mariadb"])(
    "of %s that takes a connection and answers nothing is waited for no longer than 5 s",
    async (scheme) => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => void sockets.push(socket));
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const place = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
      try {
        await expect(openDatabase(`${scheme}://reader:secret@${place}/shop`)).rejects.toMatchObject({
          code: "connection",
          detail: `the database at ${place} does not answer in time: check host and port.`,
        });
      } finally {
        sockets.forEach((socket) => socket.destroy());
        silent.close();
      }
    },
  );

  test("with an address that cannot be read is refused without it", async () => {
    const opening = openDatabase("postgres://reader:sec#ret@localhost:5432/shop");
    await expect(opening).rejects.toMatchObject({ code: "usage", detail: expect.stringContaining("percent-encode") });
    await expect(opening).rejects.not.toThrow(/ret@/);
  });

  test("of another kind is refused with those that there are", async () => {
    await expect(openDatabase("oracle://reader@localhost/shop")).rejects.toMatchObject({
      code: "usage",
      detail: expect.stringContaining("postgres:// or mariadb://"),
    });
  });
});
