import type { OutgoingRecord, Sink } from "@cdckit/consumer";
import type { CdcEvent } from "@cdckit/decode";
import type { DriverTap } from "../tap-driver.ts";
import type { DeliveryKind, OpenTarget, TargetCheck } from "../target.ts";
import { meteredSink } from "./metered-sink.ts";

export interface KafkaTargetOptions {
  /** It exists. */
  readonly topic: string;
  readonly delivery: DeliveryKind;
  /** Counts the records of a topic that readers with `read_committed` see. */
  readonly countCommitted: (topic: string) => Promise<number>;
}

/**
 * Copies each event's record to a topic. Effectively once: in a transaction with the offsets, by `pipe()`. At least once: with the same
 * producer settings, and the group commits by itself.
 */
export function kafkaTarget({ topic, delivery, countCommitted }: KafkaTargetOptions): OpenTarget {
  return {
    name: "kafka",
    delivery,
    attach(consumer, tap, meter) {
      if (delivery === "at-least-once") {
        consumer.to(meteredSink(sendingSink(topic, tap), meter));
        return;
      }
      // Events are handled when their transaction is committed, which pipe() does after this function has made their records.
      tap.whenTransacted = (records, startedAtMs, endedAtMs) => records > 0 && meter.applied(records, startedAtMs, endedAtMs);
      consumer.pipe("*", (events) => {
        meter.judge(`${events[0]?.record.topic}-${events[0]?.record.partition}`, events);
        return outgoing(topic, events);
      });
    },
    check: async ({ records }): Promise<TargetCheck> => ({
      what: "records that read_committed gives",
      found: await countCommitted(topic),
      expected: records,
    }),
    close: async () => {},
  };
}

function sendingSink(topic: string, tap: DriverTap): Sink {
  return {
    name: "kafka",
    claim: async () => [],
    apply: async ({ events }) => {
      if (events.length > 0) {
        await tap.send(outgoing(topic, events));
      }
    },
    close: async () => {},
  };
}

function outgoing(topic: string, events: readonly CdcEvent[]): readonly OutgoingRecord[] {
  return events.map(({ record: { key, value } }) => ({ topic, key, value, headers: [] }));
}
