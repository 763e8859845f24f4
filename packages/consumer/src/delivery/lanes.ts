/** A task that must not overtake another of its lane. */
export interface LaneTask {
  readonly lane: number;
  /**
   * The task concerns every lane: all tasks before it end first, and no later task starts before it has ended.
   * @default false
   */
  readonly isBarrier?: boolean;
}

interface Lane<Task> {
  /** In order. The place of a task that is over is empty. */
  readonly tasks: (Task | undefined)[];
  head: number;
}

/**
 * Decides which task may start next. The tasks of one lane run one after the other, at most `maxRunning` run over all lanes, and the lanes
 * take turns. Pure: it starts nothing itself. If a task rests (it failed and is retried later), its lane waits for it, and another lane may
 * use its place. Tasks after a barrier are in no lane until the barrier has ended.
 */
export class Lanes<Task extends LaneTask> {
  readonly #maxRunning: number;
  readonly #lanes = new Map<number, Lane<Task>>();
  /** Lanes whose first task may start. */
  #ready: (Lane<Task> | undefined)[] = [];
  #readyHead = 0;
  #running = 0;
  #waiting = 0;
  /** Tasks in lanes that are not over. */
  #open = 0;
  /** The only task in a lane is a barrier. */
  #isBarred = false;
  /** Barriers, and what was added after them, in order. They get a lane when it is their turn. */
  #held: (Task | undefined)[] = [];
  #heldHead = 0;

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
    for (const { tasks, head } of this.#lanes.values()) {
      const task = tasks[head];
      if (task !== undefined) {
        yield task;
      }
    }
  }

  add(task: Task): void {
    this.#waiting++;
    if (this.#isBarred || this.#held.length > 0 || (task.isBarrier === true && this.#open > 0)) {
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
      lane.tasks.push(task);
      return;
    }
    const opened: Lane<Task> = { tasks: [task], head: 0 };
    this.#lanes.set(task.lane, opened);
    this.#ready.push(opened);
  }

  /** Starts the next task, or one that rested. Undefined if none may start. */
  next(): Task | undefined {
    if (this.isFull || this.#readyHead === this.#ready.length) {
      return undefined;
    }
    const lane = this.#ready[this.#readyHead];
    // The array is not shifted at every step, which would cost more than all the rest. The place is emptied, so that the array does not
    // keep a lane alive.
    this.#ready[this.#readyHead++] = undefined;
    if (this.#readyHead > 1_024 && this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    this.#running++;
    this.#waiting--;
    return lane?.tasks[lane.head];
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
    this.#leave(found, lane);
    if (--this.#open === 0) {
      this.#isBarred = false;
      this.#admitHeld();
    }
  }

  #leave(found: Lane<Task>, lane: number): void {
    // The later tasks must not keep this one alive: an event holds its row and the batch that it was fetched in.
    found.tasks[found.head++] = undefined;
    if (found.head === found.tasks.length) {
      this.#lanes.delete(lane);
      return;
    }
    if (found.head > 1_024 && found.head * 2 > found.tasks.length) {
      found.tasks.splice(0, found.head);
      found.head = 0;
    }
    this.#ready.push(found);
  }

  /** No task is left in a lane: a barrier is the next one, or all tasks up to the next barrier are. */
  #admitHeld(): void {
    while (this.#heldHead < this.#held.length && !this.#isBarred) {
      const task = this.#held[this.#heldHead] as Task; // within bounds, and emptied only below
      if (task.isBarrier === true && this.#open > 0) {
        return;
      }
      this.#held[this.#heldHead++] = undefined; // as in a lane: a task that is over must not be kept alive
      this.#admit(task);
    }
    if (this.#heldHead === this.#held.length || (this.#heldHead > 1_024 && this.#heldHead * 2 > this.#held.length)) {
      this.#held = this.#held.slice(this.#heldHead);
      this.#heldHead = 0;
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
