import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { listenerOf, useOf } from "./local-process.ts";

test.skipIf(process.platform !== "linux")(
  "the process that listens on a port of this machine is found, and what it uses grows",
  async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect(listenerOf(`127.0.0.1:${port}`)).toBe(process.pid);
      expect(listenerOf(`http://user:x@localhost:${port}/path`)).toBe(process.pid);
      const before = useOf(process.pid)?.cpuMs ?? Number.NaN;
      const own = process.cpuUsage();
      while (process.cpuUsage(own).user < 100_000) {
        // Works for a tenth of a second.
      }
      expect((useOf(process.pid)?.cpuMs ?? 0) - before).toBeGreaterThanOrEqual(80);
    } finally {
      server.close();
    }
  },
);

test("other machines, free ports and ended processes are not guessed", () => {
  expect(listenerOf("db.example:5432")).toBeNull();
  expect(listenerOf("127.0.0.1:1")).toBeNull();
  expect(useOf(2 ** 30)).toBeNull();
});
