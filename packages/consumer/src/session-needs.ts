import type { DriverSession } from "./driver.ts";
import { ConsumerError } from "./errors.ts";
import type { ResolvedConsumerOptions } from "./options.ts";

/** Throws if the driver lacks what the consumer needs. */
export function refuseWhatItCannot(
  session: DriverSession,
  { failure, driver }: Pick<ResolvedConsumerOptions, "failure" | "driver">,
  needsTransactions: boolean,
): void {
  if (failure.deadLetterTopic !== null && session.send === undefined) {
    throw new ConsumerError(
      "unsupported-by-driver",
      `failure.poison ${JSON.stringify(failure.poison)} writes dead letters, and the ${driver.name} driver cannot write; set poison to "halt", or use a driver that can`,
    );
  }
  if (needsTransactions && session.transact === undefined) {
    throw new ConsumerError(
      "unsupported-by-driver",
      `pipe() writes and commits in one transaction, and the ${driver.name} driver has no transactions; use a driver that has them, or use on() and a producer`,
    );
  }
}
