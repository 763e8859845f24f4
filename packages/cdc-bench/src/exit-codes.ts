/** What the process ends with. Scripts rely on these; a number never changes its meaning. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  connection: 3,
  tooFewMessages: 4,
  decodeErrors: 5,
  regression: 98,
  threshold: 99,
  interrupted: 130,
} as const;

/** One of `exitCodes`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
