/** The phase that a consumer is in. */
export type Phase =
  /** Made, not started. */
  | "idle"
  /** Reaching the brokers and joining the group. */
  | "connecting"
  /** Taking batches. */
  | "running"
  /** Nothing new is taken. What is in flight is handled and committed. */
  | "draining"
  /** Leaving the group. */
  | "closing"
  | "stopped";

/** All that decides how a consumer goes on. */
export interface LifecycleState {
  readonly phase: Phase;
  /** Why it halted: the first failure. Null while nothing failed. */
  readonly error: Error | null;
}

export type LifecycleEvent =
  | { readonly type: "start" }
  | { readonly type: "connected" }
  | { readonly type: "stop" }
  /** Everything in flight is handled and committed. */
  | { readonly type: "drained" }
  /** Something failed, and the consumer cannot go on. */
  | { readonly type: "fail"; readonly error: Error }
  /** The deadline, or a second signal: nothing is waited for any more. The error says what was abandoned. */
  | { readonly type: "force"; readonly error: Error }
  /** The driver's session is closed, or there was none. */
  | { readonly type: "closed" };

export const initialState: LifecycleState = Object.freeze({ phase: "idle", error: null });

type Transition = Phase | "unchanged";

const transitions = {
  idle: {
    start: "connecting",
    connected: "unchanged",
    stop: "stopped",
    drained: "unchanged",
    fail: "stopped",
    force: "stopped",
    closed: "unchanged",
  },
  connecting: {
    start: "unchanged",
    connected: "running",
    stop: "closing",
    drained: "unchanged",
    fail: "closing",
    force: "closing",
    closed: "unchanged",
  },
  running: {
    start: "unchanged",
    connected: "unchanged",
    stop: "draining",
    drained: "unchanged",
    fail: "draining",
    force: "closing",
    closed: "unchanged",
  },
  draining: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "closing",
    fail: "draining",
    force: "closing",
    closed: "unchanged",
  },
  closing: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "unchanged",
    fail: "closing",
    force: "closing",
    closed: "stopped",
  },
  stopped: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "unchanged",
    fail: "unchanged",
    force: "unchanged",
    closed: "unchanged",
  },
} as const satisfies Record<Phase, Record<LifecycleEvent["type"], Transition>>;

/**
 * The state after the event. If the event changes nothing, it is the same object. The first error is kept, because later errors follow from
 * it.
 */
export function advance(state: LifecycleState, event: LifecycleEvent): LifecycleState {
  const transition: Transition = transitions[state.phase][event.type];
  if (transition === "unchanged") {
    return state;
  }
  const error = state.error ?? ("error" in event ? event.error : null);
  return transition === state.phase && error === state.error ? state : Object.freeze({ phase: transition, error });
}
