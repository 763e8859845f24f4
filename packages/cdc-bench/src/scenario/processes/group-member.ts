/** The program of one process of the group: joins it, handles what it is given, and says how far it is. Started by `member-process.ts`. */
import { createConsumer } from "@cdckit/consumer";
import { createDecoder } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { createClusterDriver } from "../../load/connection.ts";
import { openRegistry } from "../../load/schemas.ts";
import { type DecodeMeter, meterDecoder, readEvent } from "../../measure/decode-meter.ts";
import { DriverWaits, portableWait } from "../../measure/driver-waits.ts";
import { hideNegativeTimeouts } from "../../negative-timeouts.ts";
import { EventClock } from "./event-clock.ts";
import { heldDriver } from "./held-driver.ts";
import type { FromMember, MemberProgress, MemberSetup, ToMember } from "./member-messages.ts";

const reportEveryMs = 100;

class Member {
  readonly #begun: Promise<void>;
  readonly #decoded: DecodeMeter;
  readonly #waits = new DriverWaits();
  readonly #consumer: ReturnType<typeof createConsumer>;
  #begin: () => void = () => {};
  readonly #clock = new EventClock(epochMs);
  #cpuAtBegin = process.cpuUsage();
  #maxRssBytes = 0;

  constructor({ connection, registry, topics, groupId }: MemberSetup) {
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#decoded = meterDecoder(createDecoder(registry === undefined ? {} : { schemas: openRegistry(registry) }));
    this.#consumer = createConsumer({
      logger: false,
      signals: false,
      driver: heldDriver({
        driver: createClusterDriver(connection),
        begun: this.#begun,
        waits: this.#waits,
        onAssigned: (partitions) => tell({ kind: "assigned", partitions }),
        onCommitted: (offsets) =>
          tell({
            kind: "committed",
            offsets: offsets.map(({ assignment: { topic, partition }, offset }) => ({ topic, partition, offset })),
          }),
      }),
      groupId,
      topics,
      from: "earliest",
      decoder: this.#decoded.decoder,
    });
    this.#consumer.on("*", (event) => {
      readEvent(event);
      this.#clock.count();
    });
  }

  begin(): void {
    this.#cpuAtBegin = process.cpuUsage();
    this.#begin();
  }

  stop(): void {
    this.#begin(); // what is still held would hold up the stop
    void this.#consumer.stop();
  }

  async run(): Promise<void> {
    const reporting = setInterval(() => tell({ kind: "progress", progress: this.#progress() }), reportEveryMs);
    try {
      await this.#consumer.run();
      const { formats, errors } = { formats: this.#decoded.formats(), errors: this.#decoded.errors() };
      tell({ kind: "ended", end: { ...this.#progress(), formats, errors } });
    } finally {
      clearInterval(reporting);
    }
  }

  #progress(): MemberProgress {
    const { user, system } = process.cpuUsage(this.#cpuAtBegin);
    this.#maxRssBytes = Math.max(this.#maxRssBytes, process.memoryUsage.rss());
    const { records, bytes, errorRecords, registryAwayMs } = this.#decoded;
    const { longest } = this.#waits;
    return {
      events: this.#clock.events,
      records,
      bytes,
      errorRecords,
      registryAwayMs,
      waitsFor: longest === null ? null : portableWait(longest),
      firstEventAtMs: this.#clock.firstAtMs,
      lastEventAtMs: this.#clock.lastAtMs,
      cpuMs: (user + system) / 1e3,
      maxRssBytes: this.#maxRssBytes,
    };
  }
}

function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

function tell(message: FromMember): void {
  if (process.connected) {
    process.send?.(message);
  }
}

hideNegativeTimeouts();
let member: Member | undefined;

process.on("message", (message: ToMember) => {
  switch (message.kind) {
    case "join":
      member = new Member(message.setup);
      member
        .run()
        .catch((error: unknown) => tell({ kind: "failed", detail: error instanceof Error ? error.message : String(error) }))
        .finally(() => process.connected && process.disconnect());
      return;
    case "begin":
      member?.begin();
      return;
    case "stop":
      member?.stop();
  }
});

// Ctrl-C and a closed terminal reach the whole group of processes, and so does SIGTERM from `timeout`: the one that has started them says when it
// is over. Without it nobody wants a result.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
process.on("disconnect", () => member?.stop());
