import type { TestProject } from "vitest/node";
import { startStackService } from "./stack-service.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly stackServiceUrl: string;
  }
}

/** Runs once before all test files; what they share is started by the first that asks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await startStackService((line) => console.error(line));
  project.provide("stackServiceUrl", service.url);
  return () => service.close();
}
