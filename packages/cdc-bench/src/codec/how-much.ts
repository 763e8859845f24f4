/** How many rounds a measurement has unless it is told. */
export const defaultRounds = 5;

/** What `--quick` measures. */
export const quick: { readonly rounds: number; readonly maxRows: number; readonly minPassMs: number } = {
  rounds: 3,
  maxRows: 5_000,
  minPassMs: 10,
};
