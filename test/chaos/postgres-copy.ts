/** A copy of tables that are written to, kept by processes that are killed: real Debezium, real Kafka, real PostgreSQL. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { postgres } from "@cdckit/postgres";
import pg from "pg";
import { deleteConnector, deployConnector, fillIn, readConnectors, connectorValues } from "../../scripts/stack/connectors.mjs";
import { endOffsets } from "../../scripts/stack/topics.mjs";
import { Random } from "../fuzz/random.ts";
import type { SharedStack } from "../integration/stack.ts";
import { columnsOf, copiedDdl, copiedTables, hashOf, isDeadlock, Load } from "./copied-tables.ts";

export interface CopyOptions {
  readonly seed: number;
  readonly kills: number;
  readonly log?: (line: string) => void;
}

export interface CopyReport {
  readonly statements: number;
  readonly transactions: number;
  readonly events: number;
  readonly kills: number;
  /** Of the kills, how many hit while the copy was behind its source. */
  readonly killsMidWork: number;
  readonly batches: number;
  /** How often a partition was claimed. */
  readonly claims: number;
  /** Each table's rows and their hash, of the source and of the copy. */
  readonly tables: Readonly<Record<string, { readonly source: string; readonly copy: string }>>;
  readonly violations: readonly string[];
}

const memberScript = fileURLToPath(new URL("./copy-member.mjs", import.meta.url));
const deadlineMs = 180_000;

export async function runCopy(stack: SharedStack, options: CopyOptions): Promise<CopyReport> {
  const scene = new CopyScene(stack, options);
  try {
    return await scene.play();
  } finally {
    await scene.close();
  }
}

class CopyScene {
  readonly #stack: SharedStack;
  readonly #options: CopyOptions;
  readonly #random: Random;
  readonly #name: string;
  readonly #source: string;
  readonly #copy: string;
  readonly #pool: pg.Pool;
  readonly #load: Load;
  readonly #members: ChildProcess[] = [];
  readonly #violations: string[] = [];
  #isLoading = true;
  #killsMidWork = 0;

  constructor(stack: SharedStack, options: CopyOptions) {
    this.#stack = stack;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#name = `copied${process.pid}`;
    this.#source = this.#name;
    this.#copy = `${this.#name}_copy`;
    this.#pool = new pg.Pool({ ...stack.postgres });
    this.#load = new Load(this.#source, new Random(options.seed + 1));
  }

  async play(): Promise<CopyReport> {
    await this.#prepare();
    const loading = this.#write();
    loading.catch(() => {}); // awaited below
    this.#join();
    this.#join();
    for (let kill = 1; kill <= this.#options.kills; kill++) {
      await this.#untilApplied(20);
      await pass(this.#random.below(400));
      await this.#kill();
      if (kill === Math.ceil(this.#options.kills / 2)) {
        await this.#change(`alter table ${this.#source}.orders add column discount numeric(6, 2), add column late_comer text`);
        await this.#change(`alter table ${this.#source}.lines alter column quantity type bigint`);
        await this.#change(`update ${this.#source}.orders set discount = 0.5, late_comer = 'here' where id % 3 = 0`);
        await this.#change(`update ${this.#source}.lines set quantity = 9007199254740993 where tenant = 1`);
      }
    }
    this.#isLoading = false;
    await loading;
    this.#options.log?.(`quiet: ${this.#load.statements} statements`);
    await this.#untilEqual();
    await this.#stop();
    return this.#report();
  }

  async close(): Promise<void> {
    this.#isLoading = false;
    for (const member of this.#members.splice(0)) {
      member.kill("SIGKILL");
    }
    await deleteConnector(this.#stack.connectUrl, this.#name).catch(() => {});
    await this.#pool.end();
  }

  /** The source, the connector that follows it, and in the copy the witnesses of what is done twice. */
  async #prepare(): Promise<void> {
    await this.#pool.query(copiedDdl(this.#source));
    await this.#pool.query(`create schema ${this.#copy}`);
    const client = new pg.Client({ ...this.#stack.postgres });
    await client.connect();
    for (let i = 0; i < 20; i++) {
      await this.#load.transaction(client); // what a snapshot finds
    }
    await client.end();
    const sink = postgres({ pool: this.#pool as never, schema: this.#copy });
    await sink.claim("none", [Object.freeze({ topic: "none", partition: 0, epoch: 0 })]); // makes the table of checkpoints
    await this.#pool.query(witnesses.replaceAll("COPY", this.#copy));
    await this.#deploy();
  }

  async #deploy(): Promise<void> {
    const { connectUrl, postgres: database, converterUrl } = this.#stack;
    const template = readConnectors().find(({ name }) => name === "confluent-avro");
    if (template === undefined) {
      throw new Error("there is no connector called confluent-avro");
    }
    const tables = copiedTables.map(({ name }) => `${this.#source}.${name}`).join(",");
    const { config } = fillIn(template, connectorValues(database, converterUrl, tables));
    await deployConnector(connectUrl, {
      name: this.#name,
      config: {
        ...config,
        "topic.prefix": this.#name,
        "slot.name": this.#name,
        "publication.name": this.#name,
        "slot.drop.on.stop": "true",
        "topic.creation.default.partitions": "4",
      },
    });
    await this.#until("the connector to write every topic", async () => {
      const ends = await endOffsets(this.#stack.brokers, this.#topics()).catch(() => [null]); // a topic that is being made has no leader
      return !ends.includes(null);
    });
  }

  #topics(): readonly string[] {
    return copiedTables.map(({ name }) => `${this.#name}.${this.#source}.${name}`);
  }

  async #write(): Promise<void> {
    const client = new pg.Client({ ...this.#stack.postgres });
    await client.connect();
    while (this.#isLoading) {
      await this.#load.transaction(client);
      await pass(100);
    }
    await client.end();
  }

  /** A statement at the source, again if it and the load have locked each other out. */
  async #change(statement: string): Promise<void> {
    for (;;) {
      try {
        await this.#pool.query(statement);
        return;
      } catch (error) {
        if (!isDeadlock(error)) {
          throw error;
        }
      }
    }
  }

  #join(): void {
    const { host, port, user, password, database } = this.#stack.postgres;
    const sink = {
      connectionString: `postgres://${user}:${password}@${host}:${port}/${database}`,
      schema: this.#copy,
      create: true,
      widen: true,
      batch: { maxEvents: 20 + this.#random.below(80), maxMs: 20 },
    };
    const options = {
      brokers: this.#stack.brokers,
      registryUrl: this.#stack.registryUrl,
      topics: this.#topics(),
      groupId: this.#name,
      sinks: [sink],
    };
    const member = spawn(process.execPath, [memberScript, JSON.stringify(options)], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    member.stderr?.on("data", (text: Buffer) => {
      said += String(text);
      this.#options.log?.(`member ${member.pid}: ${String(text).trimEnd()}`);
    });
    member.once("close", (code) => {
      if (this.#forget(member)) {
        this.#violations.push(`a member ended by itself with ${code}: ${said.trimEnd()}`);
      }
    });
    this.#members.push(member);
  }

  async #kill(): Promise<void> {
    const [member] = this.#random.shuffled(this.#members);
    if (member === undefined) {
      throw new Error(`no member is left to kill: ${this.#violations.join("; ")}`);
    }
    this.#forget(member);
    const [before, produced] = [await this.#applied(), await this.#produced()];
    const ended = endOf(member);
    member.kill("SIGKILL");
    await ended;
    this.#killsMidWork += before.offsets < produced ? 1 : 0;
    this.#options.log?.(`killed at ${before.offsets} of ${produced} records, ${before.batches} batches`);
    this.#join();
  }

  #forget(member: ChildProcess): boolean {
    const at = this.#members.indexOf(member);
    if (at !== -1) {
      this.#members.splice(at, 1);
    }
    return at !== -1;
  }

  async #stop(): Promise<void> {
    for (const member of this.#members.splice(0)) {
      const ended = endOf(member).then(() => true);
      member.kill("SIGTERM");
      if (!(await Promise.race([ended, pass(15_000, false, { ref: false })]))) {
        this.#violations.push("a member was not gone 15 s after SIGTERM");
        member.kill("SIGKILL");
        await ended;
      }
    }
  }

  async #applied(): Promise<{ readonly offsets: number; readonly batches: number }> {
    const { rows } = await this.#pool.query<{ offsets: string; batches: string }>(
      `select coalesce(sum(upto - coalesce(since, 0)), 0) as offsets, count(*) as batches from ${this.#copy}.moves`,
    );
    return { offsets: Number(rows[0]?.offsets), batches: Number(rows[0]?.batches) };
  }

  async #produced(): Promise<number> {
    return (await endOffsets(this.#stack.brokers, this.#topics())).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  }

  async #untilApplied(more: number): Promise<void> {
    const start = (await this.#applied()).offsets;
    await this.#until(`${more} more records to be applied`, async () => (await this.#applied()).offsets >= start + more);
  }

  async #untilEqual(): Promise<void> {
    try {
      await this.#until("the copy to equal its source", async () =>
        Object.values(await this.#hashes()).every(({ source, copy }) => source === copy),
      );
      await this.#until("all records to be passed", async () => (await this.#applied()).offsets === (await this.#produced()));
    } catch (error) {
      this.#violations.push(String(error));
    }
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + deadlineMs;
    while (!(await isSo())) {
      if (performance.now() > giveUpAt) {
        throw new Error(`waited ${deadlineMs} ms for ${what}`);
      }
      await pass(100);
    }
  }

  async #hashes(): Promise<CopyReport["tables"]> {
    const found: Record<string, { source: string; copy: string }> = {};
    for (const table of copiedTables) {
      const columns = await columnsOf(this.#pool, this.#source, table.name);
      const source = await hashOf(this.#pool, this.#source, table, columns);
      const copy = await hashOf(this.#pool, this.#copy, table, columns).catch((error: Error) => error.message);
      found[table.name] = { source, copy };
    }
    return found;
  }

  async #report(): Promise<CopyReport> {
    const twice = await this.#pool.query(
      `select id, count(*)::int as times from ${this.#copy}.entries group by id having count(*) <> 1 limit 5`,
    );
    const entries = await this.#pool.query<{ same: boolean }>(
      `select (select count(*) from ${this.#copy}.entries) = (select count(*) from ${this.#source}.ledger) as same`,
    );
    const gaps = await this.#pool.query(
      `select * from (select *, lag(upto, 1, 0) over (partition by topic, part order by nth) as before from ${this.#copy}.moves) m
       where coalesce(since, 0) <> before or upto <= coalesce(since, 0) limit 5`,
    );
    const fences = await this.#pool.query<{ n: string }>(
      `select sum(fence) as n from ${this.#copy}.cdckit_checkpoints where group_id <> 'none'`,
    );
    const { offsets, batches } = await this.#applied();
    return {
      statements: this.#load.statements,
      transactions: this.#load.transactions,
      events: offsets,
      kills: this.#options.kills,
      killsMidWork: this.#killsMidWork,
      batches,
      claims: Number(fences.rows[0]?.n),
      tables: await this.#hashes(),
      violations: [
        ...this.#violations,
        ...twice.rows.map((row) => `a change was applied ${row.times} times: ${JSON.stringify(row)}`),
        ...(entries.rows[0]?.same ? [] : ["not every insert was applied"]),
        ...gaps.rows.map((row) => `a checkpoint moved from where it was not: ${JSON.stringify(row)}`),
      ],
    };
  }
}

/**
 * Nothing that is done twice goes unseen. Every row of `ledger` is one change: a trigger notes each time that one is written. And each
 * checkpoint notes from where to where it moved: ranges that meet, or something was applied twice or left out.
 */
const witnesses = `
  create table COPY.entries (id bigint);
  create table COPY.ledger (id bigint primary key, what text);
  create function COPY.note_entry() returns trigger language plpgsql as 'begin insert into COPY.entries values (new.id); return new; end';
  create trigger noted after insert or update on COPY.ledger for each row execute function COPY.note_entry();
  create table COPY.moves (nth bigint generated always as identity, topic text, part integer, since bigint, upto bigint);
  create function COPY.note_move() returns trigger language plpgsql as
    'begin insert into COPY.moves (topic, part, since, upto) values (new.topic, new.partition, old.next_offset, new.next_offset); return new; end';
  create trigger noted after update on COPY.cdckit_checkpoints for each row
    when (old.next_offset is distinct from new.next_offset) execute function COPY.note_move();`;

function endOf(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));
}
