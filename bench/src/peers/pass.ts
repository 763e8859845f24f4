import { readRow, type SalesOrderDetail } from "../sales-order-detail.ts";

/** What one side is asked to read: a topic of one partition, from its beginning. */
export interface PassOptions {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly topic: string;
  readonly format: PeerFormat;
  readonly messages: number;
  /** A side that needs longer stops here, and its rate is that of what it has read. */
  readonly maxSeconds: number;
}

export type PeerFormat = "json-with-schema" | "json" | "confluent-avro";

export interface PassResult {
  readonly messages: number;
  /** From the first message to the last: joining a group takes as long whoever joins. */
  readonly seconds: number;
  /** Of the side's own process, in that time. Null for a process that does not say it. */
  readonly processorSeconds: number | null;
  /** The peak of the process until then. */
  readonly residentMiB: number | null;
}

/** Counts the messages of a pass and ends it, by their number or by time. */
export class Pass {
  readonly finished: Promise<PassResult>;
  readonly #options: PassOptions;
  #finish: (result: PassResult) => void = () => {};
  #startedNs = 0n;
  #startedUsage: NodeJS.CpuUsage = { user: 0, system: 0 };
  #seen = 0;
  #isOver = false;
  #read = 0;

  constructor(options: PassOptions) {
    this.#options = options;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** What depends on every column that was read: reading cannot be left out. */
  get read(): number {
    return this.#read;
  }

  /** The first message, or the first batch, is there. */
  start(): void {
    if (this.#startedNs === 0n) {
      this.#startedNs = process.hrtime.bigint();
      this.#startedUsage = process.cpuUsage();
    }
  }

  /** One message was read in full. */
  count(read: number): void {
    this.#read += read;
    this.#seen++;
    if (this.#seen === this.#options.messages || (this.#seen % 1_024 === 0 && this.#elapsedSeconds() >= this.#options.maxSeconds)) {
      this.#end();
    }
  }

  #elapsedSeconds(): number {
    return Number(process.hrtime.bigint() - this.#startedNs) / 1e9;
  }

  #end(): void {
    if (this.#isOver) {
      return; // what was in flight is read after the end
    }
    this.#isOver = true;
    const seconds = this.#elapsedSeconds();
    const { user, system } = process.cpuUsage(this.#startedUsage);
    const residentMiB = process.resourceUsage().maxRSS / 1_024;
    this.#finish({ messages: this.#seen, seconds, processorSeconds: (user + system) / 1e6, residentMiB });
  }
}

/** Debezium's envelope, as peers give it. */
interface ReadEnvelope {
  readonly op: string;
  readonly source: { readonly table: string };
  readonly before: SalesOrderDetail | null;
  readonly after: SalesOrderDetail | null;
}

/** Reads what ours reads of an event: operation, table, whether there is a key, and every column. */
export function readChange(key: unknown, value: unknown): number {
  const { op, source, before, after } = value as ReadEnvelope;
  return op.length + source.table.length + readRow(before) + readRow(after) + (key === null || key === undefined ? 0 : 1);
}

/** What people write around JSON: the payload, if Debezium wrote the schema beside it. */
export function parsedJson(bytes: Uint8Array | null | undefined): unknown {
  if (bytes === null || bytes === undefined) {
    return null;
  }
  const value = JSON.parse((bytes as Buffer).toString()) as { readonly payload?: unknown };
  return value.payload ?? value;
}
