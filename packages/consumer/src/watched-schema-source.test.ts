import { RegistryError } from "@cdckit/registry";
import { virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { maxTimerMs, systemClock } from "./clock.ts";
import { resolveFailureOptions } from "./failure/failure-options.ts";
import { silentLogger } from "./observe/logger.ts";
import { Waits, waitTexts } from "./observe/waits.ts";
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

test("a source that pauses before it asks again is shown with what it was answered", async () => {
  const clock = virtualClock();
  const lines: object[] = [];
  const waits = new Waits({ clock, logger: { ...silentLogger, warn: (fields) => void lines.push(fields) } });
  const busy = new RegistryError("unavailable", "http://registry could not answer schema id 7 (429): ask again later");
  const pausing = {
    peek: () => undefined,
    load: () => new Promise<never>(() => {}),
    lastFailure: (id: unknown) => (id === 7 ? busy : undefined),
  };
  const source = new WatchedSchemaSource(pausing, { waits, clock, failure: resolveFailureOptions({}) });
  waits.start(() => []);
  void source.load(7);
  void source.load(8);
  await clock.advance(5_000);
  expect(waitTexts(waits.report())).toEqual([
    expect.stringMatching(
      /^schema 7 is waited for since \S+ \(5 s\): it is asked again, after: \[unavailable\] .* \(429\): ask again later$/,
    ),
    expect.stringMatching(/^schema 8 is waited for since \S+ \(5 s\): no answer yet$/),
  ]);
  expect(lines[0]).toMatchObject({ what: "schema 7", err: busy, failures: 0 });
  waits.close();
  source.close();
});
