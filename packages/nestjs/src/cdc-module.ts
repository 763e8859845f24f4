import { type Consumer, createConsumer, type ConsumerOptions } from "@cdckit/consumer";
import type { DynamicModule, FactoryProvider, ModuleMetadata } from "@nestjs/common";
import { DiscoveryModule, DiscoveryService, ModulesContainer } from "@nestjs/core";
import { CdcService } from "./cdc-service.ts";
import { NestCdcError } from "./errors.ts";

/** How the options of the consumer are made when other providers are needed for it. */
export interface CdcModuleAsyncOptions extends Pick<ModuleMetadata, "imports"> {
  /** What the factory gets. */
  readonly inject?: FactoryProvider["inject"];
  /** Makes the options of `createConsumer`. It is called once, with what `inject` names. */
  readonly useFactory: (...dependencies: never[]) => ConsumerOptions | Promise<ConsumerOptions>;
}

const consumerToken = Symbol("@cdckit/nestjs/consumer");

/** Gives an app a consumer whose handlers are the methods with `@CdcHandler`. Import it once, in the root module: it is global. */
export class CdcModule {
  /** With options that are known when the module is written. */
  static forRoot(options: ConsumerOptions): DynamicModule {
    return moduleOf({ useFactory: () => options });
  }

  /** With options that a factory makes. Throws a `NestCdcError` with `invalid-option` if there is none. */
  static forRootAsync(options: CdcModuleAsyncOptions): DynamicModule {
    checkFactory(options);
    return moduleOf(options);
  }
}

/** In JavaScript, and with `useClass` of other modules, Nest would say only that something is no function, when the app starts. */
function checkFactory(options: unknown): void {
  const given = typeof options === "object" && options !== null ? options : {};
  if (typeof Reflect.get(given, "useFactory") !== "function") {
    const names = Object.keys(given);
    const found = names.length === 0 ? "nothing of that kind" : `an object with ${names.join(", ")}`;
    throw new NestCdcError(
      "invalid-option",
      `CdcModule.forRootAsync() expects { useFactory, inject?, imports? }: useFactory is a function that makes the options of createConsumer; found ${found}`,
    );
  }
}

// Outside of the class: the bundler renames a class that names itself, and Nest's errors and logs would name a module `_CdcModule`.
function moduleOf({ imports = [], inject = [], useFactory }: CdcModuleAsyncOptions): DynamicModule {
  const makeConsumer = async (...dependencies: never[]): Promise<Consumer> => createConsumer(await useFactory(...dependencies));
  return {
    module: CdcModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      { provide: consumerToken, inject, useFactory: makeConsumer },
      { provide: CdcService, inject: [consumerToken, DiscoveryService, ModulesContainer], useFactory: makeService },
    ],
    exports: [CdcService],
  };
}

function makeService(consumer: Consumer, discovery: DiscoveryService, modules: ModulesContainer): CdcService {
  const own = [...modules.values()].filter(({ metatype }) => metatype === CdcModule);
  if (own.length > 1) {
    throw new NestCdcError(
      "invalid-handler",
      "CdcModule is imported twice, and each handler would be one of both consumers: import it once, and give its consumer the topics of both",
    );
  }
  own.forEach(startLastAndStopFirst);
  return new CdcService(consumer, discovery);
}

/**
 * Nest calls the hooks of a start from the module that is the farthest from the root on, and those of a shutdown from the nearest one on. The
 * root's distance is 1. A global module counts as farther than all others: the consumer would start before the providers that its handlers
 * use, and would still handle events after they have closed in `onModuleDestroy`.
 */
function startLastAndStopFirst(module: { distance: number }): void {
  module.distance = -1;
}
