/** How many lines of one kind are logged in a gap. */
const maxLines = 10;
const firstGapMs = 5_000;
const maxGapMs = 60_000;
/** How many kinds are remembered. The oldest is forgotten first. */
const maxKinds = 100;

interface Gap {
  beganMs: number;
  lengthMs: number;
  lines: number;
  leftOut: number;
}

/**
 * Bounds what is logged of many things that are in trouble for one reason: a database that is away holds up every record in flight, a thousand
 * at a time, and their lines would fill a disk overnight. The first ten are logged at once. If more follow, ten are logged in each gap, and
 * the gaps grow from 5 s to 60 s until fewer come.
 */
export class LineLimit {
  readonly #gaps = new Map<string, Gap>();

  /** How many lines of this kind were left out since the last one that was logged. Null if this one is left out, too. */
  admit(kind: string, nowMs: number): number | null {
    const gap = this.#gapOf(kind, nowMs);
    if (gap.lines >= maxLines) {
      gap.leftOut++;
      return null;
    }
    const { leftOut } = gap;
    gap.lines++;
    gap.leftOut = 0;
    return leftOut;
  }

  #gapOf(kind: string, nowMs: number): Gap {
    const gap = this.#gaps.get(kind) ?? this.#first(kind, nowMs);
    const ageMs = nowMs - gap.beganMs;
    if (ageMs >= gap.lengthMs) {
      const goesOn = gap.leftOut > 0 && ageMs < gap.lengthMs + maxGapMs;
      gap.lengthMs = goesOn ? Math.min(gap.lengthMs * 2, maxGapMs) : firstGapMs;
      gap.beganMs = nowMs;
      gap.lines = 0;
    }
    return gap;
  }

  #first(kind: string, nowMs: number): Gap {
    const [oldest] = this.#gaps.size >= maxKinds ? this.#gaps.keys() : [];
    if (oldest !== undefined) {
      this.#gaps.delete(oldest);
    }
    const gap: Gap = { beganMs: nowMs, lengthMs: firstGapMs, lines: 0, leftOut: 0 };
    this.#gaps.set(kind, gap);
    return gap;
  }
}
