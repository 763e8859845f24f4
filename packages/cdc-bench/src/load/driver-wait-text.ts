import { withoutCode } from "../bench-error.ts";
import type { DriverWait } from "../measure/driver-waits.ts";

/** What a measurement waits for at the moment. */
export interface Waiting {
  readonly isWaitingForRegistry: boolean;
  /** Null if the driver does not wait. */
  readonly waitsFor: DriverWait | null;
}

/** What a measurement is doing, and after a colon what it waits for, if it does: a driver may wait because records wait for schemas. */
export function whileWaiting(doing: string, { isWaitingForRegistry, waitsFor }: Waiting): string {
  if (isWaitingForRegistry) {
    return `${doing}: waiting for the registry`;
  }
  return waitsFor === null ? doing : `${doing}: ${driverWaitText(waitsFor)}`;
}

/** What a driver waits for, as a sentence without its full stop. */
export function driverWaitText({ wait: { what, host, place }, cause }: DriverWait): string {
  if (cause instanceof Error) {
    return withoutCode(cause.message);
  }
  return `${what}${place === undefined ? "" : ` of ${place}`} is waited for${host === undefined ? "" : `, from ${host}`}`;
}
