/** When each record should be sent, decided before any of them is: a producer that falls behind does not move its own deadlines. */
export interface Schedule {
  /** When record `index` (from 0) is due, in milliseconds since the start. */
  dueMs(index: number): number;
  /** How many records are due after so many milliseconds. */
  dueBy(elapsedMs: number): number;
}

/** Evenly spaced. The times are computed, never added up: the millionth is as exact as the first. */
export function evenSchedule(perSecond: number): Schedule {
  return {
    dueMs: (index) => (index * 1e3) / perSecond,
    dueBy(elapsedMs) {
      // The division may round across a whole number, so its neighbours are looked at.
      let due = Math.max(0, Math.floor((elapsedMs * perSecond) / 1e3) + 1);
      while (due > 0 && ((due - 1) * 1e3) / perSecond > elapsedMs) {
        due--;
      }
      while ((due * 1e3) / perSecond <= elapsedMs) {
        due++;
      }
      return due;
    },
  };
}
