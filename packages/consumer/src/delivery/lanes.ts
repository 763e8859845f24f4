import { Queue } from "./queue.ts";

/** A task that must not overtake another of its lane. */
export interface LaneTask {
  readonly lane: number;
  /**
   * The task concerns every lane: all tasks before it end first, and no later task starts before it has ended.
   * @default false
   */
  readonly isBarrier?: boolean;
}

/**
 * Decides which task may start next. The tasks of one lane run one after the other, at most `maxRunning` run over all lanes, and the lanes
 * take turns. Pure: it starts nothing itself. If a task rests (it failed and is retried later), its lane waits for it, and another lane may
 * use its place. Tasks after a barrier are in no lane until the barrier has ended.
 */
export class Lanes<Task extends LaneTask> {
  readonly #maxRunning: number;
  /** The tasks of each lane that are not over, in order. */
  readonly #lanes = new Map<number, Queue<Task>>();
  /** Lanes whose first task may start. */
  readonly #ready: Queue<Queue<Task>> = new Queue();
  #running = 0;
  #waiting = 0;
  /** Tasks in lanes that are not over. */
  #open = 0;
  /** The only task in a lane is a barrier. */
  #isBarred = false;
  /** Barriers, and what was added after them, in order. They get a lane when it is their turn. */
  readonly #held: Queue<Task> = new Queue();

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  /** Tasks that were started and neither rest nor are over. */
  get running(): number {
    return this.#running;
  }

  /** Tasks that were added and not started. */
  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#running >= this.#maxRunning;
  }

  /** The task of each lane that runs, rests or is the next to start. */
  *heads(): Iterable<Task> {
    for (const { head } of this.#lanes.values()) {
      if (head !== undefined) {
        yield head;
      }
    }
  }

  add(task: Task): void {
    this.#waiting++;
    if (this.#isBarred || this.#held.size > 0 || (task.isBarrier === true && this.#open > 0)) {
      this.#held.push(task);
    } else {
      this.#admit(task);
    }
  }

  #admit(task: Task): void {
    this.#open++;
    this.#isBarred = task.isBarrier === true;
    const lane = this.#lanes.get(task.lane);
    if (lane !== undefined) {
      lane.push(task);
      return;
    }
    const opened = new Queue<Task>();
    opened.push(task);
    this.#lanes.set(task.lane, opened);
    this.#ready.push(opened);
  }

  /** Starts the next task, or one that rested. Undefined if none may start. */
  next(): Task | undefined {
    const lane = this.isFull ? undefined : this.#ready.shift();
    if (lane === undefined) {
      return undefined;
    }
    this.#running++;
    this.#waiting--;
    return lane.head;
  }

  /** A running task is not over: its lane waits, and another lane gets its place. */
  rest(): void {
    this.#running--;
  }

  /** A task that rested waits for its turn again. */
  resume({ lane }: Task): void {
    const found = this.#lanes.get(lane);
    if (found !== undefined) {
      this.#waiting++;
      this.#ready.push(found);
    }
  }

  /** The running task is over. The next task of its lane may start. */
  end({ lane }: Task): void {
    this.#running--;
    const found = this.#lanes.get(lane);
    if (found === undefined) {
      return;
    }
    found.shift();
    if (found.size === 0) {
      this.#lanes.delete(lane);
    } else {
      this.#ready.push(found);
    }
    if (--this.#open === 0) {
      this.#isBarred = false;
      this.#admitHeld();
    }
  }

  /** No task is left in a lane: a barrier is the next one, or all tasks up to the next barrier are. */
  #admitHeld(): void {
    for (let task = this.#held.head; task !== undefined && !this.#isBarred; task = this.#held.head) {
      if (task.isBarrier === true && this.#open > 0) {
        return;
      }
      this.#held.shift();
      this.#admit(task);
    }
  }
}

/** The lane of records without a key. */
const keylessLane = -1;

/** The lane of a key. Equal bytes always give the same lane, and different bytes rarely do (FNV-1a). */
export function laneOfKey(key: Uint8Array | null): number {
  if (key === null) {
    return keylessLane;
  }
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ (key[i] as number), 0x01000193); // within bounds
  }
  return hash >>> 0;
}
