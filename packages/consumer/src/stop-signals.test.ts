import { virtualClock } from "@cdckit/testkit";
import { expect, onTestFinished, test } from "vitest";
import { onStopSignals } from "./stop-signals.ts";

test("if one signal cannot be listened to, no listener of the others stays", () => {
  const listeners = process.listenerCount("SIGUSR2");
  const listen = (): unknown => onStopSignals(["SIGUSR2", "SIGKILL"], virtualClock(), { first: () => {}, again: () => {} });
  expect(listen).toThrow("EINVAL");
  expect(process.listenerCount("SIGUSR2")).toBe(listeners);
});

test.each<[string, readonly (readonly [atMs: number, signal: NodeJS.Signals])[], readonly string[]]>([
  [
    "the same again a few milliseconds later is the same key press",
    [
      [0, "SIGUSR2"],
      [4, "SIGUSR2"],
      [999, "SIGUSR2"],
    ],
    ["first at 0"],
  ],
  [
    "the same again a second later is a second one, however often it came in between",
    [
      [0, "SIGUSR2"],
      [600, "SIGUSR2"],
      [1_000, "SIGUSR2"],
      [1_200, "SIGUSR2"],
    ],
    ["first at 0", "again at 1000", "again at 1200"],
  ],
  [
    "another one is a second one at once",
    [
      [0, "SIGUSR2"],
      [4, "SIGURG"],
    ],
    ["first at 0", "again at 4"],
  ],
])("%s", async (_, signals, expected) => {
  const clock = virtualClock();
  const called: string[] = [];
  const note = (which: string) => (): void => void called.push(`${which} at ${clock.nowMs()}`);
  onTestFinished(onStopSignals(["SIGUSR2", "SIGURG"], clock, { first: note("first"), again: note("again") }));
  for (const [atMs, signal] of signals) {
    await clock.advance(atMs - clock.nowMs());
    process.emit(signal, signal);
  }
  expect(called).toEqual(expected);
});
