/** Faults that members must go on in, with what must be seen meanwhile. */
import { setTimeout as pass } from "node:timers/promises";
import type { Random } from "../fuzz/random.ts";
import type { Members, Word } from "./members.ts";
import { keys, partitions, type RowWriter, topic } from "./row-writer.ts";
import type { SmallRegistry } from "./small-registry.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { isShown, isTelling, type Reached, type MemberWait, memberWaitsOf } from "./waiting.ts";

export interface TrialParts {
  readonly members: Members;
  readonly writer: RowWriter;
  readonly proxy: TcpProxy;
  readonly registry: SmallRegistry;
  readonly random: Random;
  readonly violate: (violation: string) => void;
}

/** Of a member's driver. */
const requestTimeoutMs = 6_000;
/** What is promised of connections that died without a word. */
const replacedWithinMs = requestTimeoutMs + 15_000;
/** For whatever happened before to be over: a session, a rebalance, kafkajs' own retries, and something for a busy machine. */
const calmWithinMs = 60_000;
/** Who handles everything that there is within this time is not behind. */
const caughtUpWithinMs = 1_500;
/** Longer than a member's health takes to call for another one. */
const holdMs = 8_000;
const moveWithinMs = 30_000;
/** So many records more are a partition that goes on: more than lay in memory. */
const enough = 100;

export class Trials {
  readonly #parts: TrialParts;
  /** Trials in which the member that waited had a second partition, which had to go on. */
  #holdsBesideOthers = 0;
  #holdsJudged = 0;

  constructor(parts: TrialParts) {
    this.#parts = parts;
  }

  /** Trials in which one member waited for so long that its health had to tell of it. */
  get holdsJudged(): number {
    return this.#holdsJudged;
  }

  get holdsBesideOthers(): number {
    return this.#holdsBesideOthers;
  }

  /** One record waits for its handler or its schema: the other partitions go on, and nobody asks for a new process. */
  async hold(): Promise<void> {
    const { members, writer, registry, random } = this.#parts;
    await this.#calm("before a record was held");
    const key = random.below(keys);
    const isSchema = random.chance(0.5);
    const startedMs = Date.now();
    if (isSchema) {
      writer.writeWith(key, registry.withhold());
    } else {
      members.hold(key);
    }
    const reached = (): readonly Reached[] => (isSchema ? registry.misses : this.#holdersSince(startedMs));
    if (await until(() => reached().length > 0, calmWithinMs)) {
      const waitsFor = isSchema ? "its schema" : "its handler";
      await this.#goOnBeside(key % partitions, waitsFor);
      await this.#judgeHealth(key % partitions, waitsFor, reached, startedMs);
    } else {
      this.#parts.violate(`a record of key ${key} was not reached within ${calmWithinMs} ms, and nothing was disturbed`);
    }
    registry.heal();
    members.hold(null);
  }

  /** What lies on the connections that there are is swallowed for good; new ones work. */
  async killConnections(): Promise<void> {
    const { members, writer, proxy } = this.#parts;
    await this.#catchUp();
    const before = members.healths().filter((word) => word.partitions.length > 0);
    proxy.swallowOldForEver();
    const startedMs = Date.now();
    const ends = await writer.ends();
    if (!(await until(() => this.#notAt(ends).length === 0, replacedWithinMs - (Date.now() - startedMs)))) {
      const reasons = members.healths().map((word) => `${word.pid}: ${word.reasons?.join("; ") || "all is well"}`);
      this.#parts.violate(
        `not every partition was at work ${replacedWithinMs} ms after connections had died; health said ${reasons.join(", ")}`,
      );
      proxy.heal();
      return;
    }
    for (const { pid, reconnects = 0 } of before) {
      const isCounted = (): boolean => members.healths().every((word) => word.pid !== pid || (word.reconnects ?? 0) > reconnects);
      if (!(await until(isCounted, requestTimeoutMs))) {
        this.#parts.violate(`process ${pid} has counted no connection as replaced`);
      }
    }
  }

  /**
   * Each partition moves, until nothing is left of what there was to handle: a member that is behind cannot be told from one that stands still.
   * What is written meanwhile counts, too. Otherwise the time to handle it would count as time in which connections were dead.
   */
  async #catchUp(): Promise<void> {
    for (let tookMs = Number.POSITIVE_INFINITY; tookMs > caughtUpWithinMs; ) {
      const startedMs = Date.now();
      const ends = await this.#parts.writer.ends();
      while (this.#notAt(ends).length > 0) {
        const still = await this.#stillAfter(calmWithinMs, this.#notAt(ends), 1);
        if (still.length > 0 && this.#notAt(ends).length > 0) {
          this.#parts.violate(`before connections died, partitions ${still.join(", ")} did not move for ${calmWithinMs} ms`);
          return;
        }
      }
      tookMs = Date.now() - startedMs;
    }
  }

  /** The partitions whose record at this offset, or a later one, is not handled. */
  #notAt(offsets: ReadonlyMap<number, bigint>): readonly number[] {
    const reached = new Set<number>();
    for (const { partition, offset } of this.#parts.members.handled()) {
      if (offset >= (offsets.get(partition) ?? 0n)) {
        reached.add(partition);
      }
    }
    return all.filter((partition) => !reached.has(partition));
  }

  /** Each partition moves. */
  async #calm(when: string): Promise<void> {
    const still = await this.#stillAfter(calmWithinMs, all, 1);
    if (still.length > 0) {
      this.#parts.violate(`${when}, partitions ${still.join(", ")} did not move for ${calmWithinMs} ms`);
    }
  }

  async #goOnBeside(partition: number, what: string): Promise<void> {
    const others = all.filter((other) => other !== partition);
    const startedMs = Date.now();
    this.#holdsBesideOthers += (this.#ownerOf(partition)?.partitions.length ?? 0) > 1 ? 1 : 0;
    for (const part of ["begins to wait", "has waited for long"]) {
      const still = await this.#stillAfter(moveWithinMs, others, enough);
      if (still.length > 0) {
        this.#parts.violate(
          `a record of partition ${partition} ${part} for ${what}, and partitions ${still.join(", ")} did not go on for ${moveWithinMs} ms`,
        );
        break;
      }
      await pass(Math.max(0, startedMs + holdMs - Date.now()));
    }
  }

  /**
   * Whoever had the partition meanwhile was to be kept, and told what it waited for: within the time that is promised, if one member waited
   * for so long. On a busy machine sessions run out, and processes get no turn: then the wait begins anew, and lasts until one was judged.
   */
  async #judgeHealth(partition: number, what: string, reached: () => readonly Reached[], sinceMs: number): Promise<void> {
    const telling = (): readonly MemberWait[] => memberWaitsOf(partition, reached(), this.#healthSince(sinceMs)).filter(isTelling);
    await until(() => telling().length > 0, calmWithinMs);
    const said = this.#parts.members
      .words()
      .filter((word) => word.kind === "health" && word.atMs > sinceMs && word.partitions.includes(partition));
    const dead = said.find(({ live }) => live === false);
    if (dead !== undefined) {
      this.#parts.violate(`health called for a new process while a record waited for ${what}: ${dead.reasons?.join("; ")}`);
    }
    this.#holdsJudged += telling().length > 0 ? 1 : 0;
    for (const { pid, fromMs, toMs, words } of telling().filter((wait) => !isShown(wait, `${topic}[${partition}]`))) {
      const others = [...new Set(words.flatMap(({ reasons = [] }) => reasons))].slice(0, 5).join("; ") || "nothing";
      this.#parts.violate(
        `for ${toMs - fromMs} ms, health of process ${pid} did not tell of a record of partition ${partition} that waited for ${what}; it told of ${others}`,
      );
    }
  }

  #healthSince(sinceMs: number): readonly Word[] {
    return this.#parts.members.words().filter(({ kind, atMs }) => kind === "health" && atMs >= sinceMs);
  }

  /** The partitions that have not handled so many records within this time. */
  async #stillAfter(withinMs: number, wanted: readonly number[], count: number): Promise<readonly number[]> {
    const fromLine = this.#parts.members.handled().length;
    let still = wanted;
    await until(() => {
      const handled = this.#parts.members.handled().slice(fromLine);
      still = wanted.filter((partition) => handled.filter((one) => one.partition === partition).length < count);
      return still.length === 0;
    }, withinMs);
    return still;
  }

  #holdersSince(sinceMs: number): readonly Word[] {
    return this.#parts.members.words().filter(({ kind, atMs }) => kind === "held" && atMs >= sinceMs);
  }

  #ownerOf(partition: number): Word | null {
    return this.#parts.members.healths().find((word) => word.partitions.includes(partition)) ?? null;
  }
}

const all: readonly number[] = Array.from({ length: partitions }, (_, partition) => partition);

async function until(isSo: () => boolean, withinMs: number): Promise<boolean> {
  for (const giveUpAt = performance.now() + withinMs; !isSo(); await pass(100)) {
    if (performance.now() > giveUpAt) {
      return false;
    }
  }
  return true;
}
