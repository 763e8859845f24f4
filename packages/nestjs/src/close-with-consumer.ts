import type { INestApplicationContext } from "@nestjs/common";
import { CdcService } from "./cdc-service.ts";

const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Closes the app, once, on SIGTERM, on SIGINT, and when its consumer has ended. What is in flight is handled and committed first. The process
 * ends with 0, or with 1 if the consumer halted or a stop abandoned work. Instead of `app.enableShutdownHooks()`, which ends the process by the signal.
 */
export function closeWithConsumer(app: INestApplicationContext): void {
  const cdc = app.get(CdcService);
  let closing: Promise<void> | undefined;
  const close = (): void => {
    // Once, whoever closes it: Nest 11 runs the shutdown hooks again for a second call. A rejection is not caught: what failed to close may keep
    // the process alive.
    if (!cdc.isClosing) {
      closing ??= app.close().finally(forget);
    }
  };
  // Until the app is closed, and not once: a Ctrl-C under npm comes twice, and the second one would end the process. If something else keeps the
  // process alive after that, a signal ends it again.
  const forget = (): void => signals.forEach((signal) => void process.off(signal, close));
  signals.forEach((signal) => process.on(signal, close));
  void cdc.ended.then((error) => {
    if (error !== null) {
      process.exitCode = 1;
    }
    close();
    if (closing === undefined) {
      forget(); // somebody else closes the app
    }
  });
}
