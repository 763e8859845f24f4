import { existsSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { openResultSink } from "./result-sink.ts";

/** A device on which no byte finds room. */
const full = "/dev/full";

test.skipIf(!existsSync(full))("a disk without room is told with the file's name, by the write and by the close", async () => {
  const terminal = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    liveLine: false,
    env: {},
    interrupt: new AbortController().signal,
  };
  const sink = await openResultSink(terminal, full);
  const sentence = { code: "usage", detail: expect.stringContaining("cannot write the results to /dev/full (ENOSPC)") };
  await expect(sink.write("results\n")).rejects.toMatchObject(sentence);
  await expect(sink.close()).rejects.toMatchObject(sentence);
});
