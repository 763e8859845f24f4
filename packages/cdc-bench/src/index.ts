export { exitCodes } from "./exit-codes.ts";
export type { ExitCode } from "./exit-codes.ts";
export { runProgram } from "./cli/program.ts";
export type { Terminal } from "./terminal.ts";
