import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { openResultSink } from "./result-sink.ts";

/** A device on which no byte finds room. */
const full = "/dev/full";

const terminal = {
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  liveLine: false,
  env: {},
  interrupt: new AbortController().signal,
};
const folder = mkdtempSync(join(tmpdir(), "result-sink-"));

afterAll(() => rmSync(folder, { recursive: true }));

describe("a file that is there", () => {
  const last = join(folder, "last.json");

  test("keeps what it holds if the command ends without a result", async () => {
    writeFileSync(last, "the last result\n");
    const sink = await openResultSink(terminal, last);
    await sink.close();
    expect(readFileSync(last, "utf8")).toBe("the last result\n");
  });

  test("holds the new result alone, also if that is shorter or comes in parts", async () => {
    writeFileSync(last, "the last result, which is longer\n");
    const sink = await openResultSink(terminal, last);
    await Promise.all([sink.write("new\n"), sink.write("result\n")]);
    await sink.close();
    expect(readFileSync(last, "utf8")).toBe("new\nresult\n");
  });

  test("is emptied by a result that is empty", async () => {
    writeFileSync(last, "the last result\n");
    const sink = await openResultSink(terminal, last);
    await sink.write("");
    await sink.close();
    expect(readFileSync(last, "utf8")).toBe("");
  });

  test("is written through a link, and in a folder in which no file can be made", async () => {
    const link = join(folder, "link.json");
    symlinkSync(last, link);
    chmodSync(folder, 0o500);
    try {
      const sink = await openResultSink(terminal, link);
      await sink.write("linked\n");
      await sink.close();
    } finally {
      chmodSync(folder, 0o700);
    }
    expect(readFileSync(last, "utf8")).toBe("linked\n");
  });
});

test("a file that is not there is made", async () => {
  const file = join(folder, "new.json");
  const sink = await openResultSink(terminal, file);
  await sink.write("result\n");
  await sink.close();
  expect(readFileSync(file, "utf8")).toBe("result\n");
});

test("a file in a folder that does not exist is refused before any work", async () => {
  await expect(openResultSink(terminal, join(folder, "missing", "a.json"))).rejects.toMatchObject({
    code: "usage",
    detail: expect.stringContaining("(ENOENT)"),
  });
});

describe("what a command has changed", () => {
  const done = "Committed 2 of 2 partitions.";

  test.skipIf(!existsSync(full))("is said once on stderr if the file that would say it cannot be written", async () => {
    const stderr = new PassThrough();
    const sink = await openResultSink({ ...terminal, stderr }, full);
    await expect(sink.write("results\n", done)).rejects.toThrow("ENOSPC");
    await expect(sink.close()).rejects.toThrow("ENOSPC");
    expect(String(stderr.read())).toBe(`${done}\n`);
  });

  test("is said on stderr if stdout cannot be written, and otherwise by the results alone", async () => {
    for (const [stdout, said] of [
      [new Writable({ write: (_chunk, _encoding, ended) => ended(new Error("no room")) }), `${done}\n`],
      [new PassThrough(), ""],
    ] as const) {
      const stderr = new PassThrough();
      const closed = once(stdout, "close").catch(() => {});
      const sink = await openResultSink({ ...terminal, stdout, stderr }, undefined);
      await sink.write("results\n", done);
      await sink.close();
      stdout.destroy();
      await closed;
      expect(String(stderr.read() ?? "")).toBe(said);
    }
  });
});

test.skipIf(!existsSync(full))("a disk without room is told with the file's name, by the write and by the close", async () => {
  const sink = await openResultSink(terminal, full);
  const sentence = { code: "usage", detail: expect.stringContaining("cannot write the results to /dev/full (ENOSPC)") };
  await expect(sink.write("results\n")).rejects.toMatchObject(sentence);
  await expect(sink.close()).rejects.toMatchObject(sentence);
});
