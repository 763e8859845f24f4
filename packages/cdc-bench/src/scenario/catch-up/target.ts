import type { Consumer } from "@cdckit/consumer";
import type { SchemaSeen } from "@cdckit/decode";
import type { DriverTap } from "./tap-driver.ts";
import type { HandledMeter } from "./handled-meter.ts";

export type DeliveryKind = "at-least-once" | "effectively-once";

/** Where events go to, and what is promised of them. */
export interface Target {
  /** `handler`, `postgres`, `kafka`. */
  readonly name: string;
  readonly delivery: DeliveryKind;
}

/** What a target says of what it holds after a catch-up: truth from outside of the consumer. */
export interface TargetCheck {
  /** What was counted, such as `rows in PostgreSQL`. */
  readonly what: string;
  readonly found: number;
  readonly expected: number;
}

/** A target of one consumer group: its checkpoint and what it wrote outlive a consumer. */
export interface OpenTarget extends Target {
  /** Attaches a handler or a sink. Called for each consumer that is made. */
  attach(consumer: Consumer, tap: DriverTap, meter: HandledMeter): void;
  /** Called with each schema, if the target needs them. */
  schemaSeen?(seen: SchemaSeen): void;
  /** Counts what is there. Null if there is nothing to count. @param expectedRows see {@link TargetCheck.expected} */
  check?(expected: ExpectedContent): Promise<TargetCheck>;
  close(): Promise<void>;
}

/** What targets hold if every event was applied once. */
export interface ExpectedContent {
  /** Rows after the last event: creates and reads less deletes, by key. */
  readonly rows: number;
  /** Records, tombstones included. */
  readonly records: number;
}
