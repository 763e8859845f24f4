import { expect, test } from "vitest";
import { onStopSignals } from "./stop-signals.ts";

test("if one signal cannot be listened to, no listener of the others stays", () => {
  const listeners = process.listenerCount("SIGUSR2");
  const listen = (): unknown =>
    onStopSignals(
      ["SIGUSR2", "SIGKILL"],
      () => {},
      () => {},
    );
  expect(listen).toThrow("EINVAL");
  expect(process.listenerCount("SIGUSR2")).toBe(listeners);
});
