/** A task that must not overtake another of its lane. */
export interface LaneTask {
  readonly lane: number;
}

interface Lane<Task> {
  /** In order; nothing stands where one was that is over. */
  readonly tasks: (Task | undefined)[];
  head: number;
}

/**
 * What may start next: tasks of one lane one after the other, so many of all lanes at a time, lanes in turn. Pure: it starts nothing itself.
 * A task that rests (it failed, and is tried again later) keeps its lane and leaves its place to another lane.
 */
export class Lanes<Task extends LaneTask> {
  readonly #maxRunning: number;
  readonly #lanes = new Map<number, Lane<Task>>();
  /** Lanes whose first task may start. */
  #ready: (Lane<Task> | undefined)[] = [];
  #readyHead = 0;
  #running = 0;
  #waiting = 0;

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
    const lane = this.#lanes.get(task.lane);
    if (lane !== undefined) {
      lane.tasks.push(task);
      return;
    }
    const opened: Lane<Task> = { tasks: [task], head: 0 };
    this.#lanes.set(task.lane, opened);
    this.#ready.push(opened);
  }

  /** Starts the next task, or one that rested; undefined where none may start. */
  next(): Task | undefined {
    if (this.isFull || this.#readyHead === this.#ready.length) {
      return undefined;
    }
    const lane = this.#ready[this.#readyHead];
    // A line that is cut at every step costs more than all the rest; what has left it must not be kept alive by it.
    this.#ready[this.#readyHead++] = undefined;
    if (this.#readyHead > 1_024 && this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    this.#running++;
    this.#waiting--;
    return lane?.tasks[lane.head];
  }

  /** The running task is not over: its lane stays closed, and another lane has its place. */
  rest(_task: Task): void {
    this.#running--;
  }

  /** A task that rested gets in line again. */
  resume({ lane }: Task): void {
    const found = this.#lanes.get(lane);
    if (found !== undefined) {
      this.#waiting++;
      this.#ready.push(found);
    }
  }

  /** The running task is over; the next one of its lane may start. */
  end({ lane }: Task): void {
    this.#running--;
    const found = this.#lanes.get(lane);
    if (found === undefined) {
      return;
    }
    // Those behind it must not keep it alive: an event holds its row, and the batch that it was fetched in.
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
}

/** The lane of records without a key. */
const keylessLane = -1;

/** The lane of a key: equal bytes always meet in one lane, and different ones hardly ever (FNV-1a). */
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
