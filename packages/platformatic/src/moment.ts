/** A moment by two clocks. The one that only goes forward stands still while the machine is suspended, and the wall clock may be set. */
export interface Moment {
  readonly nowMs: number;
  readonly wallMs: number;
}

export function thisMoment(): Moment {
  return { nowMs: performance.now(), wallMs: Date.now() };
}

/** How long ago it was, by the clock that says longer. */
export function msSince({ nowMs, wallMs }: Moment): number {
  return Math.max(performance.now() - nowMs, Date.now() - wallMs);
}
