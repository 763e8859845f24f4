import { expect, onTestFinished, test } from "vitest";
import { abortAtCtrlC } from "./ctrl-c.ts";

/** Calls only the listeners that `abortAtCtrlC` has added: the process' others are the test runner's. */
function listen(): {
  press(signal: "SIGINT" | "SIGTERM" | "SIGHUP", atMs: number): void;
  readonly isAborted: boolean;
  readonly exits: number;
} {
  const controller = new AbortController();
  const before = new Set(["SIGINT", "SIGTERM", "SIGHUP"].flatMap((signal) => process.listeners(signal as NodeJS.Signals)));
  let nowMs = 0;
  let exits = 0;
  onTestFinished(abortAtCtrlC(controller, { nowMs: () => nowMs, exit: () => exits++ }));
  return {
    press(signal, atMs) {
      nowMs = atMs;
      for (const listener of process.listeners(signal)) {
        if (!before.has(listener)) {
          listener(signal);
        }
      }
    },
    get isAborted() {
      return controller.signal.aborted;
    },
    get exits() {
      return exits;
    },
  };
}

test("a Ctrl-C that npm passes on a second time lets the command print what it has", () => {
  const command = listen();
  command.press("SIGINT", 50);
  command.press("SIGINT", 54);
  expect([command.isAborted, command.exits]).toEqual([true, 0]);
});

test.each([
  ["the same signal a second later", "SIGINT", 1_050],
  ["another signal", "SIGTERM", 54],
] as const)("%s ends the process at once", (_, signal, atMs) => {
  const command = listen();
  command.press("SIGINT", 50);
  command.press(signal, atMs);
  expect(command.exits).toBe(1);
});

test.each([
  ["twice", ["SIGHUP", "SIGHUP"]],
  ["after a SIGTERM", ["SIGTERM", "SIGHUP"]],
  ["before a SIGTERM", ["SIGHUP", "SIGTERM"]],
] as const)("a terminal that is closed lets the command remove what it made: SIGHUP %s", (_, [first, second]) => {
  const command = listen();
  command.press(first, 50);
  command.press(second, 1_050);
  expect([command.isAborted, command.exits]).toEqual([true, 0]);
});
