// An app as users write it, with the decorators of Nest. `contract.test.ts` bundles it for each major of Nest, and runs what it exports.
import "reflect-metadata";
import { CdcHandler, CdcModule, CdcService } from "@cdckit/nestjs";
import {
  Controller,
  Global,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  Scope,
  UseGuards,
} from "@nestjs/common";
import { ModuleRef } from "@nestjs/core";
import { Test } from "@nestjs/testing";
import type { ConsumerOptions, CreateEvent, DeleteEvent, UpdateEvent } from "@cdckit/consumer";
import type { CdcEvent, HeartbeatEvent } from "@cdckit/decode";

export { isNestCdcError } from "@cdckit/nestjs";

interface Order {
  readonly id: number;
  readonly state: string;
}

/** What happened, in its order. */
@Injectable()
export class Journal implements OnApplicationShutdown {
  readonly lines: string[] = [];
  /** Called with each line. */
  onLine: (line: string) => void = () => {};
  /** The shutdown waits for it. */
  gate: Promise<void> = Promise.resolve();
  /** The handler with pools waits for it. */
  handling: Promise<void> = Promise.resolve();

  write(line: string): void {
    this.lines.push(line);
    this.onLine(line);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.gate;
    this.write("database closed");
  }
}

@Injectable()
class Orders {
  readonly #journal: Journal;
  /** Handlers wait for it. */
  gate: Promise<void> = Promise.resolve();

  constructor(@Inject(Journal) journal: Journal) {
    this.#journal = journal;
  }

  @CdcHandler("public.orders", "create")
  async created({ after }: CreateEvent<Order>): Promise<void> {
    await this.gate;
    this.#journal.write(`created ${after.id} ${after.state}`);
  }

  @CdcHandler("public.orders", ["update", "delete"], { columns: ["id"] })
  changed({ op, key, after }: UpdateEvent<Pick<Order, "id">> | DeleteEvent<Pick<Order, "id">>): void {
    this.#journal.write(`${op} ${JSON.stringify(key)} ${JSON.stringify(after)}`);
  }

  @CdcHandler("heartbeat")
  beat({ kind }: HeartbeatEvent): void {
    this.#journal.write(kind);
  }
}

/** What two kinds of events have in common: a class that handlers extend. */
class Audit {
  readonly seen: string[] = [];

  @CdcHandler("public.items")
  item(event: CdcEvent): void {
    this.seen.push(event.kind);
  }
}

@Controller()
class Rest extends Audit {
  readonly #journal: Journal;

  constructor(@Inject(Journal) journal: Journal) {
    super();
    this.#journal = journal;
  }

  @CdcHandler("*")
  rest(event: CdcEvent): void {
    this.#journal.write(`rest ${event.kind}`);
  }

  override item(event: CdcEvent): void {
    super.item(event);
    this.#journal.write(`item ${event.kind}`);
  }
}

@Injectable({ scope: Scope.REQUEST })
class OfARequest {
  @CdcHandler("public.orders", "create")
  created(): void {}
}

/** A guard, to see that other decorators of a method do not take its mark away. */
@Injectable()
class Never {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Guarded {
  readonly #journal: Journal;

  constructor(@Inject(Journal) journal: Journal) {
    this.#journal = journal;
  }

  @UseGuards(Never)
  @CdcHandler("*")
  any(event: CdcEvent): void {
    this.#journal.write(`guarded ${event.kind}`);
  }
}

@Injectable()
class Stock {
  readonly #journal: Journal;

  constructor(@Inject(Journal) journal: Journal) {
    this.#journal = journal;
  }

  @CdcHandler("public.orders", "create")
  created({ op }: CreateEvent<Order>): void {
    this.#journal.write(`stock ${op}`);
  }

  @CdcHandler("public.orders", "truncate")
  emptied(): void {}
}

/** Connections of which a handler needs one. They open when the app starts, and close when its modules do. */
class Pool implements OnApplicationBootstrap, OnModuleDestroy {
  isOpen = false;
  readonly #modules: ModuleRef;

  constructor(modules: ModuleRef) {
    this.#modules = modules;
  }

  onApplicationBootstrap(): void {
    this.isOpen = true;
    const { phase } = this.#modules.get(CdcService, { strict: false }).health();
    this.#modules.get(Journal, { strict: false }).write(`pool opened, the consumer is ${phase}`);
  }

  onModuleDestroy(): void {
    this.isOpen = false;
  }
}

const poolOf = (provide: string) => ({ provide, inject: [ModuleRef], useFactory: (modules: ModuleRef) => new Pool(modules) });

@Module({ providers: [poolOf("imported pool")], exports: ["imported pool"] })
class PoolModule {}

@Global()
@Module({ providers: [poolOf("global pool")], exports: ["global pool"] })
class GlobalPoolModule {}

@Injectable()
class WithPools {
  readonly #journal: Journal;
  readonly #pools: readonly Pool[];

  constructor(
    @Inject(Journal) journal: Journal,
    @Inject("own pool") own: Pool,
    @Inject("imported pool") imported: Pool,
    @Inject("global pool") global: Pool,
  ) {
    this.#journal = journal;
    this.#pools = [own, imported, global];
  }

  @CdcHandler("public.orders", "create")
  async created(): Promise<void> {
    this.#journal.write("begun");
    await this.#journal.handling;
    this.#journal.write(`handled with open pools: ${this.#pools.map(({ isOpen }) => isOpen).join(", ")}`);
  }
}

const sets = {
  pools: { providers: [WithPools, poolOf("own pool")], controllers: [], imports: [PoolModule, GlobalPoolModule] },
  stock: { providers: [Stock], controllers: [] },
  orders: { providers: [Orders, { provide: "the same again", useExisting: Orders }], controllers: [Rest] },
  request: { providers: [OfARequest], controllers: [] },
  guarded: { providers: [Guarded], controllers: [] },
  none: { providers: [], controllers: [] },
};

@Module({ providers: [{ provide: "group", useValue: "from-another-module" }], exports: ["group"] })
class ConfigModule {}

/** The app, compiled by Nest's test module: with `forRoot`, or with `forRootAsync` and a group that another module knows. */
export async function appOf(set: keyof typeof sets, options: ConsumerOptions, how: "forRoot" | "forRootAsync" = "forRoot") {
  const cdc =
    how === "forRoot"
      ? CdcModule.forRoot(options)
      : CdcModule.forRootAsync({
          imports: [ConfigModule],
          inject: ["group"],
          useFactory: async (groupId: string) => ({ ...options, groupId }),
        });
  const { providers, controllers, imports = [] }: ModuleMetadata = sets[set];
  const app = await Test.createTestingModule({
    imports: [cdc, ...imports],
    providers: [Journal, ...(providers ?? [])],
    controllers,
  }).compile();
  return {
    app,
    journal: app.get(Journal),
    cdc: app.get(CdcService),
    ...(set === "orders" ? { orders: app.get(Orders), rest: app.get(Rest) } : {}),
  };
}
