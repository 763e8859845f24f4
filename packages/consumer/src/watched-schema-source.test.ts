import { expect, test } from "vitest";
import { maxTimerMs, systemClock } from "./clock.ts";
import { resolveFailureOptions } from "./failure/failure-options.ts";
import { silentLogger } from "./observe/logger.ts";
import { Waits } from "./observe/waits.ts";
import { WatchedSchemaSource } from "./watched-schema-source.ts";

test("a wait is shown for as long as the longest delay between attempts, and no timer overflows", async () => {
  const clock = systemClock;
  const waits = new Waits({ clock, logger: silentLogger });
  const failure = resolveFailureOptions({ retry: { maxDelayMs: maxTimerMs } });
  const source = new WatchedSchemaSource(
    { peek: () => undefined, load: () => Promise.reject(Object.assign(new Error("no answer"), { code: "unavailable" })) },
    { waits, clock, failure },
  );
  await expect(source.load(7)).rejects.toThrow("no answer");
  await new Promise((resolve) => setTimeout(resolve, 2)); // a timer that has overflowed fires after 1 ms, before this one
  expect(waits.report()).toMatchObject([{ what: "schema 7" }]);
  source.close();
});
