// A handler for AWS Lambda behind an event source of MSK with ReportBatchItemFailures.
import { createLambdaHandler, type LambdaHandler, type LambdaHandlerOptions } from "@cdckit/lambda";
import type { CdcEvent } from "cdckit";
import { required } from "./environment.js";

export function createHandler(handle: (event: CdcEvent) => void, logger: LambdaHandlerOptions["logger"]): LambdaHandler {
  return createLambdaHandler({ registry: { url: required("SCHEMA_REGISTRY_URL") }, ...(logger && { logger }) }).on("*", handle);
}

export const handler: LambdaHandler = createHandler((event) => console.log(event.kind, event.key), undefined);
