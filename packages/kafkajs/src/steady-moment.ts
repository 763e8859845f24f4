/**
 * Has an object of kafkajs keep a moment by the clock that only goes forward. kafkajs keeps it by the wall clock, as milliseconds since the epoch or
 * null, and compares it with `Date.now()`: if that clock is set back by an hour, what is due at this moment would come an hour late.
 */
export function keepSteady<Name extends string>(owner: { [name in Name]: number | null }, name: Name): void {
  const aheadMs = (): number => Date.now() - performance.now();
  const toSteady = (wallMs: number | null): number | null => (wallMs === null ? null : wallMs - aheadMs());
  let atMs = toSteady(owner[name]);
  Object.defineProperty(owner, name, {
    get: () => (atMs === null ? null : atMs + aheadMs()),
    set: (wallMs: number | null) => {
      atMs = toSteady(wallMs);
    },
  });
}
