import type { RecordableHistogram } from "node:perf_hooks";
import { type Allocation, medianAllocation, startAllocation } from "../../codec/allocation.ts";
import { createDurationHistogram, percentileCurve, recordDuration, summarizeDurations } from "../../measure/duration-histogram.ts";
import type { Observer } from "../../observe/observer.ts";
import { type ApiClient, type Ask, type Asked, AskError } from "./api-client.ts";
import type { ResponseMeasure, UnansweredAsk } from "./http-result.ts";
import type { OwnApi } from "./own-api.ts";

export interface HttpPlan {
  readonly asks: readonly Ask[];
  /** Of each form; null: until the time is over. */
  readonly requests: number | null;
  readonly durationMs: number | null;
  readonly warmupRequests: number;
  readonly concurrency: number;
  /** Requests are made in so many parts, with another order of forms in each. */
  readonly blocks: number;
  readonly allocationRequests: number;
}

export interface HttpWorld {
  readonly client: ApiClient;
  /** Null: the user's API, whose memory nobody here can see. */
  readonly api: OwnApi | null;
  /** Whether the rows that came are those that the API has; null if nobody knows them. */
  readonly check: ((ask: Ask, asked: Asked) => boolean) | null;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

export interface HttpFigures {
  readonly responses: readonly ResponseMeasure[];
  readonly unanswered: readonly UnansweredAsk[];
}

/** Asks for every form in turn. A form that has no answer is left out from then on, with its reason. */
export async function measureHttp(plan: HttpPlan, world: HttpWorld): Promise<HttpFigures> {
  const meters = plan.asks.map((ask) => new AskMeter(ask, plan, world));
  for (let block = 0; block < plan.blocks; block++) {
    for (let turn = 0; turn < meters.length; turn++) {
      const meter = meters[(block + turn) % meters.length] as AskMeter; // below the length
      await meter.play(block);
    }
  }
  for (const meter of meters) {
    await meter.allocate();
  }
  return {
    responses: meters.flatMap((meter) => meter.measure() ?? []),
    unanswered: meters.flatMap((meter) => meter.unanswered ?? []),
  };
}

/** Measures one form of request. */
class AskMeter {
  unanswered: UnansweredAsk | null = null;
  readonly #ask: Ask;
  readonly #plan: HttpPlan;
  readonly #world: HttpWorld;
  readonly #histogram: RecordableHistogram = createDurationHistogram();
  readonly #sums = { prepareMs: 0, waitMs: 0, transferMs: 0, decompressMs: 0, decodeMs: 0, serverMs: 0 };
  readonly #allocations: { readonly client: Allocation; readonly server: Pick<Allocation, "bytes"> | null }[] = [];
  #serverTimes = 0;
  #elapsedMs = 0;
  #last: Asked | null = null;
  #started = 0;

  constructor(ask: Ask, plan: HttpPlan, world: HttpWorld) {
    this.#ask = ask;
    this.#plan = plan;
    this.#world = world;
  }

  async play(block: number): Promise<void> {
    const { warmupRequests, blocks, requests, durationMs, concurrency } = this.#plan;
    await this.#answered(async () => {
      for (let i = 0; block === 0 && i < warmupRequests && !this.#isOver; i++) {
        await this.#once(false);
      }
      const startMs = performance.now();
      const until = requests === null ? null : Math.floor(((block + 1) * requests) / blocks);
      const deadlineMs = durationMs === null ? null : startMs + durationMs / blocks;
      try {
        await Promise.all(Array.from({ length: concurrency }, () => this.#loop(until, deadlineMs)));
      } finally {
        this.#elapsedMs += performance.now() - startMs; // also of a block that Ctrl-C ends: its requests count
      }
    });
  }

  /** Requests of their own, so that counting costs no measured time. One at a time: what is counted is one request's. */
  async allocate(): Promise<void> {
    await this.#answered(async () => {
      for (let i = 0; i < this.#plan.allocationRequests && !this.#isOver; i++) {
        const { client, api } = this.#world;
        await api?.count();
        const stop = startAllocation();
        await client.ask(this.#ask);
        const counted = stop();
        this.#allocations.push({ client: counted, server: api === null ? null : { bytes: await api.counted() } });
      }
    });
  }

  measure(): ResponseMeasure | null {
    const done = this.#histogram.count;
    if (done === 0 || this.#last === null || this.unanswered !== null) {
      return null;
    }
    const meanNs = (ms: number): number => (ms * 1e6) / done;
    const { prepareMs, waitMs, transferMs, decompressMs, decodeMs, serverMs } = this.#sums;
    const client = medianAllocation(this.#allocations.map((each) => each.client))?.bytes ?? null;
    const server = medianAllocation(this.#allocations.flatMap((each) => each.server ?? []))?.bytes ?? null;
    return {
      ...this.#ask,
      request: summarizeDurations(this.#histogram),
      curve: percentileCurve(this.#histogram),
      requestsPerSecond: (done * 1e3) / this.#elapsedMs,
      sentBytes: this.#last.sentBytes,
      plainBytes: this.#last.plainBytes,
      allocatedBytes: client === null ? null : client + (server ?? 0),
      allocatedByClientBytes: client,
      allocatedByServerBytes: server,
      stages: {
        prepareNs: meanNs(prepareMs),
        waitNs: meanNs(waitMs),
        serverNs: this.#serverTimes === 0 ? null : (serverMs * 1e6) / this.#serverTimes,
        transferNs: meanNs(transferMs),
        decompressNs: meanNs(decompressMs),
        decodeNs: meanNs(decodeMs),
      },
    };
  }

  get #isOver(): boolean {
    return this.#world.interrupt.aborted || this.unanswered !== null;
  }

  async #loop(until: number | null, deadlineMs: number | null): Promise<void> {
    while (!this.#isOver && (until === null || this.#started < until) && (deadlineMs === null || performance.now() < deadlineMs)) {
      this.#started++;
      await this.#once(true);
    }
  }

  async #once(isCounted: boolean): Promise<void> {
    const { client, check, observer } = this.#world;
    const { method, format, encoding } = this.#ask;
    const asked = await client.ask(this.#ask);
    if (check !== null && !check(this.#ask, asked)) {
      throw new AskError(false, "its rows are not those that it has");
    }
    const total = this.#plan.requests === null ? {} : { total: this.#plan.requests };
    observer.observe(() => ({ phase: `${method} ${format}, ${encoding}`, done: this.#histogram.count, ...total, unit: "requests" }));
    if (isCounted) {
      this.#add(asked);
    }
  }

  #add(asked: Asked): void {
    recordDuration(this.#histogram, asked.totalMs * 1e6);
    this.#last = asked;
    for (const part of ["prepareMs", "waitMs", "transferMs", "decompressMs", "decodeMs"] as const) {
      this.#sums[part] += asked[part];
    }
    if (asked.serverMs !== null) {
      this.#sums.serverMs += asked.serverMs;
      this.#serverTimes++;
    }
  }

  async #answered(work: () => Promise<void>): Promise<void> {
    if (this.#isOver) {
      return;
    }
    try {
      await work();
    } catch (error) {
      if (this.#world.interrupt.aborted) {
        return;
      }
      if (!(error instanceof AskError)) {
        throw error;
      }
      this.unanswered = { ...this.#ask, reason: error.message, isRefused: error.isRefused };
    }
  }
}
