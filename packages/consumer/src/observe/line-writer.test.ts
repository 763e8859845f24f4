import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { lineWriter } from "./line-writer.ts";

const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

/** A stream that an error does not destroy, in the way in which Node keeps stderr from it. */
function stream(fails: () => boolean, { later = false } = {}): { readonly to: Writable; readonly taken: string[] } {
  const taken: string[] = [];
  const to = new Writable({
    decodeStrings: false,
    destroy(error, done) {
      done(error);
      (this as unknown as { _undestroy(): void })._undestroy();
    },
    write: (line: string, _encoding, done) => {
      const end = (): void => {
        if (fails()) {
          done(full);
        } else {
          taken.push(line);
          done();
        }
      };
      if (later) {
        setImmediate(end);
      } else {
        end();
      }
    },
  });
  return { to, taken };
}

test.each([{ later: false }, { later: true }])(
  "a log that takes no lines does not end the process (fails later: $later)",
  async ({ later }) => {
    let isFull = true;
    const { to, taken } = stream(() => isFull, { later });
    const write = lineWriter(to);
    for (let i = 0; i < 20; i++) {
      write(`lost ${i}\n`); // an event `error` without a listener would fail this test
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(to.listenerCount("error")).toBeLessThanOrEqual(1);
    isFull = false;
    write("there is space again\n");
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toEqual(["there is space again\n"]);
  },
);

test("who listens to the errors of the stream hears of them", async () => {
  const { to } = stream(() => true);
  const heard: Error[] = [];
  to.on("error", (error) => heard.push(error));
  lineWriter(to)("lost\n");
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([full]);
});
