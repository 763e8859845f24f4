import type { INestApplicationContext } from "@nestjs/common";

/** The code of `packages/nestjs/README.md`, which `contract.test.ts` bundles. */
export function closeWithConsumer(app: INestApplicationContext): void;
