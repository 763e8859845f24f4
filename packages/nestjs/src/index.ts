export { CdcModule } from "./cdc-module.ts";
export type { CdcModuleAsyncOptions } from "./cdc-module.ts";
export { closeWithConsumer } from "./close-with-consumer.ts";
export { CdcService } from "./cdc-service.ts";
export { CdcHandler } from "./handler-marks.ts";
export type { CdcHandlerOptions, CdcMethodDecorator, CdcSlot } from "./handler-marks.ts";
export { isNestCdcError, NestCdcError } from "./errors.ts";
export type { NestCdcErrorCode } from "./errors.ts";
