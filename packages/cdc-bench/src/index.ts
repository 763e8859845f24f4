export { exitCodes } from "./exit-codes.ts";
export type { ExitCode } from "./exit-codes.ts";
export { runProgram } from "./cli/program.ts";
export type { Terminal } from "./terminal.ts";
export type { Codec } from "./codec/codec.ts";
export { testCodecContract } from "./codec/codec-contract.ts";
export type { CodecContractOptions } from "./codec/codec-contract.ts";
