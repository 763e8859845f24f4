import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { openClusterAccess } from "./cluster-access.ts";

test("a port that takes connections and answers nothing ends with that sentence, before anything is noted as made", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "cdc-bench-silent-"));
  const { signal: interrupt } = new AbortController();
  const terminal = { stdout: new PassThrough(), stderr: new PassThrough(), liveLine: false, env: { XDG_STATE_HOME: folder }, interrupt };
  const connection = { brokers: [`127.0.0.1:${(silent.address() as AddressInfo).port}`] };
  try {
    await expect(openClusterAccess("soak", connection, terminal)).rejects.toMatchObject({
      code: "connection",
      detail: expect.stringContaining("accepts connections and answers nothing"),
    });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    sockets.forEach((socket) => socket.destroy());
    silent.close();
    rmSync(folder, { recursive: true });
  }
}, 90_000);
