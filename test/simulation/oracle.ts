import type { FetchedBatch } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { type AppendedRecord, bytesOf, type CommittedOffset } from "@cdckit/testkit";
import type { Holding } from "./holding.ts";
import { type Fate, type Plan, type PlannedRecord, poisonous } from "./plan.ts";
import type { SinkStore } from "./sink-store.ts";
import type { ReportedLosses } from "./reported-losses.ts";

/** What is known of one record. */
export interface Fact {
  readonly record: PlannedRecord;
  readonly offset: bigint;
  /** Which topic of the name it is of. */
  readonly era: number;
  /** `"void"`: aborted. `"vanished"`: compacted, or deleted before the group had committed anything; it may have been fetched before. */
  state: "open" | "readable" | "void" | "vanished";
  /** Somebody has decoded it. */
  isSeen: boolean;
  /** Who handled each of its events. */
  readonly handledBy: Holding[][];
  readonly deadBy: (Holding | null)[];
  /** Of those, who has had the answer. */
  readonly deadReportedTo: Set<Holding>;
  /** Of its events, those that pipe() has written. */
  readonly piped: Set<number>;
}

/** Fates whose records go to no handler. */
const silent: ReadonlySet<Fate> = new Set<Fate>(["filtered", "empty"]);

export interface OracleParts {
  readonly plan: Plan;
  readonly losses: ReportedLosses;
  /** How many turns the clock has taken. */
  readonly turn: () => number;
  /** Told of everything that happens. */
  readonly trace: ((line: string) => void) | null;
}

/** Watches everything that happens, and notes what must not at the moment at which it does. */
export class Oracle {
  readonly violations: string[] = [];
  readonly sinks: SinkStore[] = [];
  readonly losses: ReportedLosses;
  readonly #plan: Plan;
  readonly #trace: ((line: string) => void) | null;
  /** Of the topic as it is now. */
  #facts: Fact[][];
  #byOffset: Map<bigint, Fact>[];
  readonly #byId = new Map<number, Fact>();
  #era = 0;
  /** Everything below is known to be done. */
  #doneTo: number[];
  readonly #holdings: Holding[] = [];
  /** The last that pipe() has written of each partition. */
  readonly #pipedTo: bigint[] = [];
  /** Who sent the latest dead letter of a record. */
  readonly #senders = new Map<Fact, Holding>();

  /** In which turn a stream last handed out an event. */
  #handedOutInTurn = -1;
  readonly #turn: () => number;

  constructor({ plan, losses, turn, trace }: OracleParts) {
    this.#plan = plan;
    this.losses = losses;
    this.#turn = turn;
    this.#trace = trace;
    this.#facts = Array.from({ length: plan.partitions }, () => []);
    this.#byOffset = this.#facts.map(() => new Map<bigint, Fact>());
    this.#doneTo = this.#facts.map(() => 0);
  }

  violate(what: string): void {
    this.note(() => `WRONG: ${what}`);
    this.violations.push(what);
  }

  // What is in the log.

  stored(record: PlannedRecord, { partition, offset }: KafkaRecord, state: "open" | "readable"): Fact {
    const handledBy: Holding[][] = record.fate === "double" ? [[], []] : [[]];
    const base = {
      record,
      offset,
      state,
      isSeen: false,
      handledBy,
      deadBy: [],
      deadReportedTo: new Set<Holding>(),
      piped: new Set<number>(),
    };
    const fact: Fact = { ...base, era: this.#era };
    this.#byId.set(record.id, fact);
    this.#facts[partition]?.push(fact);
    this.#byOffset[partition]?.set(offset, fact);
    return fact;
  }

  factAt(partition: number, offset: bigint): Fact | undefined {
    return this.#byOffset[partition]?.get(offset);
  }

  /** What is known of the record with this value, also of a topic that was there before. */
  factOf(value: Uint8Array | string | null): Fact | undefined {
    return value === null ? undefined : this.#byId.get(Number(typeof value === "string" ? value : Buffer.from(value).toString()));
  }

  /** The topic is deleted and created again: what it held is gone, and its offsets mean something else. */
  recreated(): void {
    this.note(() => "the topic is deleted and created again");
    for (let partition = 0; partition < this.#facts.length; partition++) {
      this.vanished(partition, () => true);
    }
    this.#era++;
    this.#facts = this.#facts.map(() => []);
    this.#byOffset = this.#facts.map(() => new Map<bigint, Fact>());
    this.#doneTo = this.#facts.map(() => 0);
  }

  /** They are not in the log any more, and nobody is to blame. */
  vanished(partition: number, isGone: (fact: Fact) => boolean): void {
    for (const fact of this.#facts[partition] ?? []) {
      if (fact.state !== "void" && isGone(fact)) {
        fact.state = "vanished";
      }
    }
  }

  /** A member goes on behind what retention took, or at the end, because it was told to, and says so. */
  skipped(partition: number, from: bigint, to: bigint): void {
    this.note(() => `${partition}:${from} to ${to - 1n} are skipped`);
    // Also of a transaction that is still open: its end does not bring back what is deleted.
    this.vanished(partition, ({ offset }) => offset >= from && offset < to);
  }

  /** One above the last record that is there to be handled; null where there is none. */
  endOf(partition: number): bigint | null {
    const last = this.#facts[partition]?.findLast(({ state }) => state === "readable");
    return last === undefined ? null : last.offset + 1n;
  }

  /** A transaction still decides whether records of it are there. */
  isOpen(partition: number): boolean {
    return (this.#facts[partition] ?? []).some(({ state }) => state === "open");
  }

  /** How many records were there to be handled. */
  get readable(): number {
    return this.#facts.flat().filter(({ state }) => state === "readable").length;
  }

  // What is done.

  isDone(fact: Fact): boolean {
    const { reads } = this.#plan;
    const bySinks = this.sinks.every((sink) => this.#isDoneBy(sink, fact));
    return bySinks && (reads === "sink" || reads === "two-sinks" || this.#isHandled(fact));
  }

  /** By handlers. */
  #isHandled({ record, isSeen, handledBy, deadBy, piped }: Fact): boolean {
    if (this.#plan.reads === "pipe" && piped.size === handledBy.length) {
      return true;
    }
    return deadBy.length > 0 || (silent.has(record.fate) ? isSeen : handledBy.every(({ length }) => length > 0));
  }

  #isDoneBy(sink: SinkStore, { record, offset, isSeen, deadBy }: Fact): boolean {
    const isIn = deadBy.length > 0 || (silent.has(record.fate) ? isSeen : sink.has(record.id));
    return isIn && (sink.checkpoint(record.partition) ?? 0n) > offset;
  }

  /** A record that is to blame stands at the offset or, where records are handed on together, behind it. */
  hasPoisonFrom(partition: number, offset: bigint): boolean {
    const isTogether = this.#plan.reads !== "handlers" && this.#plan.reads !== "stream";
    return [...this.#byId.values()].some(
      (fact) =>
        fact.record.partition === partition &&
        poisonous.has(fact.record.fate) &&
        (fact.offset === offset || (isTogether && fact.offset > offset)),
    );
  }

  /** Sinks have everything of the partition: then the group's commit stands where the last record brought it. */
  isAppliedTo(partition: number, end: bigint): boolean {
    const { reads } = this.#plan;
    return (reads === "sink" || reads === "two-sinks") && this.sinks.every((sink) => (sink.checkpoint(partition) ?? 0n) >= end);
  }

  /** One line of what happened, where somebody reads it. */
  note(line: () => string): void {
    this.#trace?.(line());
  }

  // What the consumer does.

  assigned(holding: Holding): void {
    const { partition } = holding.assignment;
    for (const before of this.#holdings.filter((other) => other.assignment.partition === partition && other.state !== "gone")) {
      before.excuseBy("it was given out anew before it had ended");
      holding.overlaps = true;
    }
    this.#holdings.push(holding);
  }

  decoded(fact: Fact | undefined, partition: number, offset: bigint): void {
    if (fact?.state !== "readable" && fact?.state !== "vanished") {
      this.violate(`${partition}:${offset} was decoded, and nothing is to be read there`);
    } else {
      fact.isSeen = true;
    }
  }

  /** A stream hands an event out. From here on the event is under way, and nothing can take it back. */
  handedOut(fact: Fact, holding: Holding): void {
    this.refuseGone(holding, `${this.#name(fact)} is handed out`);
    holding.active++;
    this.#handedOutInTurn = this.#turn();
  }

  /** A handler is called, or a reader of a stream has what was handed out. */
  starts(fact: Fact, holding: Holding): void {
    if (this.#plan.reads !== "stream") {
      this.refuseGone(holding, `${this.#name(fact)} is handed to a handler`);
    } else if (this.#handedOutInTurn !== this.#turn()) {
      // Promises lie between a stream and its reader, and nothing else: whatever comes from outside waits for the next turn.
      this.violate(`${this.#name(fact)} came to its reader later than in the turn in which it was handed out`);
    }
    const lane = this.#laneOf(fact);
    if (this.#plan.failure.poison === "park-key" && fact.record.key !== 0 && lane !== null) {
      const behind = holding.parked.get(fact.record.key);
      if (behind !== undefined && behind < fact.offset) {
        this.violate(`${this.#name(fact)} is handled, and ${behind} of its key is a dead letter`);
      }
    }
    if (lane !== null) {
      this.#refuseOvertaking(fact, holding, lane);
    }
    if (this.#plan.reads === "stream") {
      holding.last.set(-1, fact.offset); // its reader says when it is done, in any order
    }
  }

  ended(fact: Fact, event: number, holding: Holding): void {
    this.note(() => `${this.#name(fact)} was handled by ${holding}`);
    const name = `${fact.record.id}.${event}`;
    if (holding.applied.has(name)) {
      this.violate(`${this.#name(fact)} was handled twice during one assignment`);
    }
    holding.applied.add(name);
    fact.handledBy[event]?.push(holding);
    const lane = this.#laneOf(fact);
    if (lane !== null && this.#plan.reads !== "stream") {
      holding.last.set(lane, fact.offset);
    }
  }

  batchHanded(holding: Holding, batch: FetchedBatch, takes: () => boolean): void {
    const { delivery, workers, reads } = this.#plan;
    for (const walk = batch.walk(); walk.next(); ) {
      const offset = batch.offsetAt(walk.record);
      holding.start ??= offset;
      holding.handed.add(offset);
    }
    holding.start ??= batch.nextOffset;
    holding.batches = holding.batches.filter((other) => this.#isOpen(holding, other));
    const isBounded = delivery.maxInFlight !== undefined && reads !== "stream" && delivery.concurrency > 1;
    if (isBounded && holding.state === "held" && holding.batches.length > (delivery.maxInFlight ?? 0) + workers && takes()) {
      this.violate(`${holding.batches.length} batches of ${holding} are in memory`);
    }
    holding.batches.push(batch);
  }

  /** Bytes of what was handed over and is not done. */
  openBytes(holdings: Iterable<Holding>): number {
    let bytes = 0;
    for (const holding of holdings) {
      for (const batch of holding.state === "held" ? holding.batches : []) {
        bytes += this.#isOpen(holding, batch) ? batch.byteLength : 0;
      }
    }
    return bytes;
  }

  #isOpen(holding: Holding, batch: FetchedBatch): boolean {
    for (const walk = batch.walk(); walk.next(); ) {
      const fact = this.factOf(batch.valueAt(walk.record));
      if (fact !== undefined && !this.isDone(fact) && holding.state !== "gone") {
        return true;
      }
    }
    return false;
  }

  /** An event is written by a transaction of pipe(). */
  piped(name: string): void {
    const [partition = 0, offset = 0, part = 0] = name.split(":").map(Number);
    const fact = this.factAt(partition, BigInt(offset));
    if (fact === undefined || fact.piped.has(part)) {
      this.violate(`${name} was written twice`);
    } else if (fact.offset < (this.#pipedTo[partition] ?? 0n)) {
      this.violate(`${name} was written after ${this.#pipedTo[partition]}`);
    }
    fact?.piped.add(part);
    this.#pipedTo[partition] = BigInt(offset);
  }

  commitAsked(holding: Holding, offset: bigint): void {
    this.refuseGone(holding, `a commit of ${offset} is sent`);
    if (holding.asked !== null && offset < holding.asked) {
      this.violate(`the commits of ${holding} went back from ${holding.asked} to ${offset}`);
    }
    holding.asked = offset;
  }

  /** One that fails has committed nothing, and one of an assignment that is over is refused by the driver. */
  transactionAsked(holding: Holding, offset: bigint): void {
    if (holding.isExpired) {
      this.violate(`a transaction to ${offset} is asked for, and the session of ${holding} has run out`);
    }
    if (holding.asked !== null && offset < holding.asked) {
      this.violate(`the transactions of ${holding} went back from ${holding.asked} to ${offset}`);
    }
  }

  /** The broker takes a commit. */
  committed({ partition, offset }: CommittedOffset, before: bigint | null): void {
    this.note(() => `${partition} was committed to ${offset}`);
    if (before !== null && offset < before) {
      this.violate(`the group's commit of ${partition} went back from ${before} to ${offset}`);
    }
    const facts = this.#facts[partition] ?? [];
    let at = this.#doneTo[partition] ?? 0;
    for (let fact = facts[at]; fact !== undefined && fact.offset < offset; fact = facts[++at]) {
      if (fact.state === "open" || (fact.state === "readable" && !this.isDone(fact))) {
        this.violate(`${partition} was committed to ${offset}, and ${this.#name(fact)} is not handled`);
        return;
      }
    }
    this.#doneTo[partition] = at;
  }

  /** The dead-letter topic has a record. */
  deadLettered(letter: AppendedRecord): void {
    const place = placeOf(letter);
    const fact = this.#factOfLetter(letter);
    const holding = fact === undefined ? null : (this.#senders.get(fact) ?? null);
    if (fact === undefined) {
      this.violate("a dead letter is of no record");
      return;
    }
    if (holding !== null && fact.record.key !== 0 && !holding.parked.has(fact.record.key)) {
      holding.parked.set(fact.record.key, fact.offset);
    }
    if (String(letter.value) !== String(fact.record.id)) {
      this.violate(`the dead letter of ${this.#name(fact)} has other bytes`);
    }
    if (fact.era !== this.#era) {
      fact.deadBy.push(holding);
      return; // what it was parked behind is of a topic that is gone
    }
    const isBehind = place.parkedBehind !== null && this.#plan.failure.poison === "park-key";
    if (!isBehind && !poisonous.has(fact.record.fate)) {
      this.violate(`${this.#name(fact)} became a dead letter, and was not to blame`);
    }
    if (isBehind && (this.factAt(place.partition, place.parkedBehind ?? 0n)?.deadBy.length ?? 0) === 0) {
      this.violate(`${this.#name(fact)} was parked behind ${place.parkedBehind}, which is no dead letter`);
    }
    fact.deadBy.push(holding);
  }

  deadLetterSent(holding: Holding | null, letter: Pick<AppendedRecord, "headers" | "value">): void {
    const { partition, offset } = placeOf(letter);
    const fact = this.#factOfLetter(letter);
    if (holding?.isExpired === true) {
      this.violate(`a dead letter of ${partition}:${offset} is sent, and the session has run out`);
    }
    if (holding === null || holding.state === "gone") {
      this.violate(`a dead letter of ${partition}:${offset} is sent, and its partition is not held`);
    } else if (fact !== undefined) {
      this.#senders.set(fact, holding);
    }
  }

  /** The answer came, so that the offset may move. */
  deadLetterReported(holding: Holding | null, letter: Pick<AppendedRecord, "headers" | "value">): void {
    if (holding !== null) {
      this.#factOfLetter(letter)?.deadReportedTo.add(holding);
    }
  }

  /** By what it holds, or else by the place that it names: offsets of two topics may be the same. */
  #factOfLetter(letter: Pick<AppendedRecord, "headers" | "value">): Fact | undefined {
    const { partition, offset } = placeOf(letter);
    const fact = this.factOf(bytesOf(letter.value));
    return fact?.offset === offset && fact.record.partition === partition ? fact : this.factAt(partition, offset);
  }

  // What is judged at the end.

  /** Nothing is disturbed any more and everything is committed: nothing may be missing, and what came twice must be explained. */
  judgeRepeats(): number {
    let repeats = 0;
    for (const fact of this.#facts.flat()) {
      for (const by of fact.handledBy) {
        repeats += Math.max(0, by.length - 1);
        this.#judgeRepeats(fact, by, "handled");
      }
      // Where sinks are all there is, a dead letter that is acknowledged while its partition goes is written again by the next owner.
      if (this.sinks.length === 0 && this.#plan.reads !== "pipe") {
        // Where no answer came before the partition went, the next owner writes it again.
        this.#judgeRepeats(
          fact,
          [...fact.deadReportedTo].filter(({ overlaps }) => !overlaps),
          "a dead letter",
        );
      }
    }
    return repeats;
  }

  judgeLosses(): void {
    for (const fact of this.#facts.flat()) {
      if (fact.state === "readable" && !this.isDone(fact)) {
        this.violate(`${this.#name(fact)} is lost`);
      }
    }
  }

  /** All but one must have ended in a way that explains it. */
  #judgeRepeats(fact: Fact, by: readonly Holding[], what: string): void {
    const well = by.filter((holding) => holding.excuse === null && !this.#isHalfway(fact, holding));
    if (well.length > 1) {
      this.violate(`${this.#name(fact)} was ${what} again, although ${well.join(" and ")} ended well`);
    }
  }

  /** Who reads a stream may leave it between two events of a record, which then comes again as a whole. */
  #isHalfway({ handledBy }: Fact, holding: Holding): boolean {
    return this.#plan.reads === "stream" && !handledBy.every((by) => by.includes(holding));
  }

  /** Records of one lane are handled one after the other; null where there are no lanes. A number that is no key stands for all. */
  #laneOf({ record }: Fact): number | null {
    const { reads, delivery } = this.#plan;
    if (reads === "stream" || reads === "batches" || delivery.order === "partition" || delivery.concurrency === 1) {
      return -1;
    }
    return delivery.order === "key" ? record.key : null;
  }

  #refuseOvertaking(fact: Fact, holding: Holding, lane: number): void {
    const last = holding.last.get(lane) ?? (holding.start ?? 0n) - 1n;
    if (fact.offset < last) {
      this.violate(`${this.#name(fact)} came behind ${last} during one assignment`);
    }
    for (const other of fact.era === this.#era ? (this.#facts[fact.record.partition] ?? []) : []) {
      const isOfLane = lane === -1 || other.record.key === lane;
      const isForAll = fact.record.fate === "truncate" || other.record.fate === "truncate";
      const isBefore = other.offset < fact.offset && other.state === "readable" && (isOfLane || isForAll);
      if (!isBefore || silent.has(other.record.fate)) {
        continue;
      }
      if (this.#plan.reads !== "stream" && !this.#isHandled(other)) {
        this.violate(`${this.#name(fact)} overtook ${this.#name(other)}`);
      } else if (isOfLane && other.offset > last && other.deadBy.length === 0) {
        this.violate(`${this.#name(fact)} came after ${last} during one assignment, and ${this.#name(other)} was skipped`);
      }
    }
  }

  /** What starts, and for whom: its partition must be held, and its member known to the group. */
  refuseGone(holding: Holding, what: string): void {
    // One that was going already is no member's any more at the broker, and its commits are left out.
    if (holding.isExpired && holding.state !== "going") {
      this.violate(`${what}, and the session of ${holding} has run out`);
    }
    if (holding.state === "gone") {
      this.violate(`${what}, and ${holding} is not held any more`);
    }
  }

  #name({ record, offset }: Fact): string {
    return `${record.partition}:${offset} (${record.fate})`;
  }
}

interface DeadPlace {
  readonly partition: number;
  readonly offset: bigint;
  readonly parkedBehind: bigint | null;
}

/** Where a dead letter comes from, as its headers say. */
export function placeOf({ headers = [] }: Pick<AppendedRecord, "headers">): DeadPlace {
  const texts = new Map(headers.map(([name, value]) => [name, bytesOf(value ?? []).toString()]));
  const parkedBehind = texts.get("cdckit.parked-behind");
  return {
    partition: Number(texts.get("__connect.errors.partition")),
    offset: BigInt(texts.get("__connect.errors.offset") ?? -1),
    parkedBehind: parkedBehind === undefined ? null : BigInt(parkedBehind),
  };
}
