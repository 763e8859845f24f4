import type { MakeDriverError } from "./errors.ts";

/** What decides which member of a group reads a partition: a member (`classic`), or the brokers (`consumer`, KIP-848). */
export type GroupProtocol = "classic" | "consumer";

/** The times of a group membership. Each driver has them under these names. */
export interface MembershipTimes {
  /** The group removes a member that has sent no heartbeat for so long. */
  readonly sessionTimeoutMs: number;
  /** How long a rebalance waits for members to join again. */
  readonly rebalanceTimeoutMs: number;
  /** Between two heartbeats. */
  readonly heartbeatIntervalMs: number;
}

const classicTimes: MembershipTimes = Object.freeze({ sessionTimeoutMs: 30_000, rebalanceTimeoutMs: 60_000, heartbeatIntervalMs: 3_000 });

/** What Kafka's brokers have as `group.consumer.session.timeout.ms` if nobody has changed it. */
const consumerSessionTimeoutMs = 45_000;

/** The times that a driver has by default. */
export function membershipDefaults(protocol: GroupProtocol = "classic"): MembershipTimes {
  return protocol === "classic" ? classicTimes : { ...classicTimes, sessionTimeoutMs: consumerSessionTimeoutMs };
}

/** The option `groupProtocol`. Undefined is `classic`. Throws `invalid-option` if there is no such protocol. */
export function groupProtocolOf(option: unknown, makeError: MakeDriverError): GroupProtocol {
  const protocol = option === undefined ? "classic" : option;
  if (protocol !== "classic" && protocol !== "consumer") {
    throw makeError(
      "invalid-option",
      `expected groupProtocol to be "classic" or "consumer", found ${JSON.stringify(option) ?? typeof option}`,
    );
  }
  return protocol;
}

/** Throws `invalid-option` if a member would be removed before its next heartbeat. */
export function checkHeartbeats(
  { heartbeatIntervalMs, sessionTimeoutMs }: Pick<MembershipTimes, "heartbeatIntervalMs" | "sessionTimeoutMs">,
  makeError: MakeDriverError,
): void {
  if (heartbeatIntervalMs >= sessionTimeoutMs) {
    throw makeError("invalid-option", "expected heartbeatIntervalMs to be smaller than sessionTimeoutMs: set it to about a third");
  }
}
