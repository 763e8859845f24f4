/**
 * fast-check, as tests get it: `vitest.config.ts` gives them this file for "fast-check". With `FAST_CHECK_NUM_RUNS`, a property that says itself how
 * often it runs does so as many times more often as one that does not: of fast-check itself, its own number would win.
 */
import fastCheck, { type IAsyncProperty, type IProperty, type Parameters } from "fast-check";

/** What fast-check runs if nobody says anything. */
const usualRuns = 100;

/** How often a property runs that says `own`, if `FAST_CHECK_NUM_RUNS` is `wanted`. */
export function runsOf(own: number, wanted: string | undefined): number {
  return wanted === undefined ? own : Math.ceil((own * Number(wanted)) / usualRuns);
}

export function assert<Values>(property: IAsyncProperty<Values>, parameters?: Parameters<Values>): Promise<void>;
export function assert<Values>(property: IProperty<Values>, parameters?: Parameters<Values>): void;
export function assert<Values>(
  property: IProperty<Values> | IAsyncProperty<Values>,
  parameters: Parameters<Values> = {},
): void | Promise<void> {
  const { numRuns: own } = parameters;
  const numRuns = own === undefined ? {} : { numRuns: runsOf(own, process.env["FAST_CHECK_NUM_RUNS"]) };
  return fastCheck.assert(property as IProperty<Values>, { ...parameters, ...numRuns }); // the overload for either
}

// The module itself, with one member of its own.
export * from "fast-check";
// oxlint-disable-next-line import/no-default-export -- fast-check has one
export default { ...fastCheck, assert };
