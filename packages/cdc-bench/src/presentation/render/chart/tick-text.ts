import type { Axis } from "../../document.ts";

/** A value as short as an axis needs it: `250k`, `1.5 MB`, `20 ms`. */
export function tickText(value: number, unit: Axis["unit"]): string {
  switch (unit) {
    case "ns":
      return durationText(value);
    case "ms":
      return durationText(value * 1e6);
    case "s":
      return value === 0 ? "0" : Math.abs(value) >= 1 ? `${compact(value)} s` : durationText(value * 1e9);
    case "bytes":
      return scaled(value, [
        [1e9, " GB"],
        [1e6, " MB"],
        [1e3, " kB"],
        [1, " B"],
      ]);
    case "percent":
      return `${compact(value)}%`;
    case "per-second":
      return value === 0 ? "0" : `${amountText(value)}/s`;
    case "count":
    case undefined:
      return amountText(value);
  }
}

function durationText(ns: number): string {
  return scaled(ns, [
    [1e9, " s"],
    [1e6, " ms"],
    [1e3, " µs"],
    [1, " ns"],
  ]);
}

function amountText(value: number): string {
  return scaled(value, [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
  ]);
}

function scaled(value: number, units: readonly (readonly [size: number, unit: string])[]): string {
  if (value === 0) {
    return "0";
  }
  const [size, unit] = units.find(([each]) => Math.abs(value) >= each * 0.9999995) ?? [1, units.at(-1)?.[1] ?? ""];
  return `${compact(value / size)}${unit}`;
}

function compact(value: number): string {
  return String(Number(value.toPrecision(4)));
}
