import { formatBytes, formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import { isDuration, isPercentage, type MetricName } from "./metric.ts";

/** A figure with its unit, as it stands alone: in a verdict, or in a row of a table whose other rows have other units. */
export function metricText(name: MetricName, value: number): string {
  if (isDuration(name)) {
    return formatDuration(value);
  }
  if (isPercentage(name)) {
    return `${value.toFixed(1)}%`;
  }
  if (name.startsWith("size.") || name === "allocated") {
    return formatBytes(value);
  }
  if (name.startsWith("rate")) {
    return `${formatCount(value)}/s`;
  }
  switch (name) {
    case "throughput":
      return `${formatMegabytesPerSecond(value)} MB/s`;
    case "ratio":
      return `${value.toFixed(2)}x`;
    default:
      return formatCount(value);
  }
}
