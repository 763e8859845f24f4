/**
 * How long an answer asks us to wait (RFC 9110, section 10.2.3): seconds, or a date. If the answer has a date of its own, the two dates are
 * compared, so that the difference between its clock and ours does not matter.
 */
export function readRetryAfterMs(headers: Headers, wallMs: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") {
    return undefined;
  }
  if (/^\d+$/.test(value)) {
    return Number(value) * 1_000;
  }
  // Date.parse takes almost any text for a date, even "-5".
  const until = /^[A-Z][a-z]{2,8}, .+ GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  const sent = Date.parse(headers.get("date") ?? "");
  const delayMs = until - (Number.isNaN(sent) ? wallMs : sent);
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs);
}
