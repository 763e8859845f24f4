import type { CdcEvent, SchemaSeen } from "@cdckit/decode";
import { type BatchOptions, resolveBatchLimits } from "../delivery/delivery-options.ts";
import type { AttachedSink } from "../delivery/sink-stage.ts";
import { ConsumerError } from "../errors.ts";
import { checkMembers } from "../option-checks.ts";
import type { Sink } from "../sink.ts";
import { type GuardedSinkParts, guardedSink } from "../user-code/guarded-sink.ts";
import { matchesTable, parseTablePattern, type TablePattern } from "./table-pattern.ts";

/** What a sink takes, and how much of it at a time. */
export interface SinkOptions {
  /**
   * Patterns of tables, as `on` has them.
   * @default every table
   */
  readonly tables?: readonly string[];
  /**
   * What is applied together.
   * @default `delivery.batch`
   */
  readonly batch?: BatchOptions;
}

/** The sinks of a consumer. Each takes what happens to tables: changes, rows, truncates and tombstones. */
export class AttachedSinks {
  readonly #attached: AttachedSink[] = [];
  readonly #parts: GuardedSinkParts;

  constructor(parts: GuardedSinkParts) {
    this.#parts = parts;
  }

  get all(): readonly AttachedSink[] {
    return this.#attached;
  }

  /** Attaches what `to` was given. */
  add(sink: Sink, options: SinkOptions): void {
    if (typeof sink?.apply !== "function" || typeof sink.claim !== "function" || typeof sink.name !== "string" || sink.name === "") {
      throw new ConsumerError("invalid-sink", "to() expects a sink: an object with a name, and the methods claim, apply and close");
    }
    if (this.#attached.some((other) => other.sink.name === sink.name)) {
      throw new ConsumerError(
        "invalid-sink",
        `to() has a sink with the name ${JSON.stringify(sink.name)} already: checkpoints are kept by name`,
      );
    }
    checkMembers("to()", options, ["tables", "batch"]);
    const patterns = options.tables?.map(parseTablePattern) ?? null;
    const limits = resolveBatchLimits("to() batch", options.batch);
    this.#attached.push({ sink: guardedSink(sink, this.#parts), limits, takes: (event) => takes(patterns, event) });
  }

  /** Where the sink of that name writes to. */
  hostOf(name: string): string | undefined {
    return this.#attached.find(({ sink }) => sink.name === name)?.sink.host;
  }

  schemaSeen(seen: SchemaSeen): void {
    for (const { sink } of this.#attached) {
      sink.schemaSeen?.(seen);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#attached.map(async ({ sink }) => sink.close()));
  }
}

function takes(patterns: readonly TablePattern[] | null, event: CdcEvent): boolean {
  if (event.kind !== "change" && event.kind !== "row" && event.kind !== "truncate" && event.kind !== "tombstone") {
    return false;
  }
  const { table } = event;
  return patterns === null || (table !== null && patterns.some((pattern) => matchesTable(pattern, table)));
}
