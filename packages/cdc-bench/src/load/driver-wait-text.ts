import { withoutCode } from "../bench-error.ts";
import type { DriverWait } from "../measure/driver-waits.ts";

/** What a driver waits for, as a sentence without its full stop. */
export function driverWaitText({ wait: { what, host, place }, cause }: DriverWait): string {
  if (cause instanceof Error) {
    return withoutCode(cause.message);
  }
  return `${what}${place === undefined ? "" : ` of ${place}`} is waited for${host === undefined ? "" : `, from ${host}`}`;
}
