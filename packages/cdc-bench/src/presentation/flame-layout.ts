import type { Frame, ProfileArea } from "../result/profile-frame.ts";

/** A frame with its place: parts of the whole width, and rows from the root. */
export interface PlacedFrame {
  readonly name: string;
  readonly area: ProfileArea;
  readonly valueUs: number;
  /** Where it begins, 0 to 1. */
  readonly start: number;
  /** How wide it is, above 0 and up to 1. */
  readonly share: number;
  /** 0 is the root. */
  readonly depth: number;
}

export interface FlameLayout {
  /** Parents before their children, from left to right. */
  readonly frames: readonly PlacedFrame[];
  /** Rows. */
  readonly depth: number;
  /** Frames that are too narrow or too deep to be shown. */
  readonly leftOut: number;
}

export interface AreaShare {
  readonly area: ProfileArea;
  /** Time in functions of this area themselves, without what they called. */
  readonly selfUs: number;
  readonly share: number;
}

/** Narrower frames would be less than a pixel of a wide picture. */
export const minFlameShare = 0.0005;
/** A recursion as deep as this has been understood. */
const maxFlameDepth = 256;

/** Places the frames of a profile. What a frame's children took together is at most what it took itself, whatever the profile says. */
export function layoutFlame(root: Frame): FlameLayout {
  const totalUs = timeOf(root);
  const frames: PlacedFrame[] = [];
  let leftOut = 0;
  let depth = 0;
  // A stack of its own: a profile that was read from a file may be deeper than ours is.
  const waiting: { frame: Frame; start: number; room: number; depth: number }[] = [{ frame: root, start: 0, room: 1, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { frame, start } = next;
    const share = Math.min(next.room, totalUs === 0 ? 0 : timeOf(frame) / totalUs);
    if (share < minFlameShare || next.depth >= maxFlameDepth) {
      leftOut++;
      continue;
    }
    frames.push({ name: frame.name, area: frame.area, valueUs: timeOf(frame), start, share, depth: next.depth });
    depth = Math.max(depth, next.depth + 1);
    let taken = 0;
    const below = frame.children.map((child) => {
      const place = { frame: child, start: start + taken, room: share - taken, depth: next.depth + 1 };
      taken = Math.min(share, taken + timeOf(child) / totalUs);
      return place;
    });
    waiting.push(...below.reverse());
  }
  return { frames, depth, leftOut };
}

/** Where the time of a profile went, the largest share first. */
export function areaShares(root: Frame): readonly AreaShare[] {
  const totals = new Map<ProfileArea, number>();
  const waiting = [root];
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    const calledUs = frame.children.reduce((sum, child) => sum + timeOf(child), 0);
    totals.set(frame.area, (totals.get(frame.area) ?? 0) + Math.max(0, timeOf(frame) - calledUs));
    for (const child of frame.children) {
      waiting.push(child);
    }
  }
  const totalUs = [...totals.values()].reduce((sum, us) => sum + us, 0);
  return [...totals]
    .filter(([, selfUs]) => selfUs > 0)
    .map(([area, selfUs]) => ({ area, selfUs, share: selfUs / totalUs }))
    .sort((a, b) => b.selfUs - a.selfUs);
}

/** No profile lasts longer than a century; sums of such times stay finite. */
function timeOf({ valueUs }: Frame): number {
  return valueUs > 0 ? Math.min(valueUs, 3.2e15) : 0;
}
