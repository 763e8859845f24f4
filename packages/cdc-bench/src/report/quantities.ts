/** Quantities as people read them. MB is 10^6 bytes everywhere. */

/** `1,234,567` */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Bytes in full: a size is compared digit by digit. */
export function formatBytes(bytes: number): string {
  return `${formatCount(bytes)} B`;
}

/** `12.3` for 12,300,000 bytes a second. */
export function formatMegabytesPerSecond(bytesPerSecond: number): string {
  const megabytes = bytesPerSecond / 1e6;
  return megabytes >= 100 ? formatCount(megabytes) : megabytes.toFixed(1);
}

/** Three figures and the unit that fits: `870 ns`, `2.82 µs`, `19.1 ms`, `2.50 s`. */
export function formatDuration(durationNs: number): string {
  const scales = [
    { unit: "ns", ns: 1 },
    { unit: "µs", ns: 1e3 },
    { unit: "ms", ns: 1e6 },
    { unit: "s", ns: 1e9 },
  ] as const;
  const scale = scales.findLast(({ ns }) => durationNs >= ns) ?? scales[0];
  const amount = durationNs / scale.ns;
  return `${scale.unit === "ns" ? Math.round(amount) : figures(amount)} ${scale.unit}`;
}

/** `100 Mbit/s`, `2.50 Gbit/s`. */
export function formatLinkRate(bitsPerSecond: number): string {
  const scales = [
    { unit: "bit/s", bits: 1 },
    { unit: "kbit/s", bits: 1e3 },
    { unit: "Mbit/s", bits: 1e6 },
    { unit: "Gbit/s", bits: 1e9 },
  ] as const;
  const scale = scales.findLast(({ bits }) => bitsPerSecond >= bits) ?? scales[0];
  return `${figures(bitsPerSecond / scale.bits)} ${scale.unit}`;
}

/** `6.8x` */
export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? `${figures(ratio)}x` : "-";
}

function figures(amount: number): string {
  return amount >= 100 ? amount.toFixed(0) : amount >= 10 ? amount.toFixed(1) : amount.toFixed(2);
}
