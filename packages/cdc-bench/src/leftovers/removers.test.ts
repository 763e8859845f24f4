import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createRemover } from "./removers.ts";
import { type Thing, thingText, withLogin, withoutLogin } from "./thing.ts";

/** What a server was sent. */
interface Heard {
  readonly sockets: Socket[];
  text: string;
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
  }
});

/** A server that answers what it is sent as it is told. Real Redis is asked in test/commands: here is what it does not do. */
async function listen(answer: (sent: string) => string | null): Promise<{ readonly heard: Heard; readonly place: string }> {
  const heard: Heard = { sockets: [], text: "" };
  const server = createServer((socket) => {
    heard.sockets.push(socket);
    socket.on("error", () => {}); // the other side may go without a word
    socket.on("data", (chunk: Buffer) => {
      heard.text += chunk.toString("latin1");
      const said = answer(chunk.toString("latin1"));
      if (said === null) {
        socket.destroy();
      } else {
        socket.write(said);
      }
    });
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return { heard, place: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Removes so many keys, one after the other, and gives the reasons of those that stay. */
async function removeKeys(redisUrl: string, count: number): Promise<readonly string[]> {
  const remover = createRemover({ redisUrl });
  const reasons: string[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const key: Thing = { kind: "redis-key", name: `cdc-bench-roundtrip-1:${i}`, at: withoutLogin(redisUrl) };
      await remover.remove(key).catch((error: Error) => reasons.push(error.message));
    }
  } finally {
    await remover.close();
  }
  return reasons;
}

describe("keys in Redis", () => {
  test("go through one connection with one login, which close ends", async () => {
    const { heard, place } = await listen((sent) => (sent.includes("UNLINK") ? ":1\r\n" : "+OK\r\n"));
    expect(await removeKeys(`redis://me:canary@${place}/3`, 100)).toEqual([]);
    expect(heard.sockets).toHaveLength(1);
    const words = heard.text.split("\r\n").filter((line) => !/^[*$]/.test(line));
    expect(words.slice(0, 7)).toEqual(["AUTH", "me", "canary", "SELECT", "3", "UNLINK", "cdc-bench-roundtrip-1:0"]);
    expect(words.filter((word) => word === "UNLINK")).toHaveLength(100);
    const [socket] = heard.sockets;
    if (socket?.closed === false) {
      await once(socket, "close");
    }
  });

  test("of rediss:// do not show the login to a server that does not speak TLS", async () => {
    const { heard, place } = await listen(() => null);
    const reasons = await removeKeys(`rediss://me:canary@${place}`, 20);
    expect(heard.text).not.toContain("canary");
    expect(heard.text).not.toContain("AUTH");
    expect(heard.sockets).toHaveLength(1);
    expect(reasons).toHaveLength(20);
    expect(reasons.join()).not.toContain("canary");
  });

  test.each([
    ["hangs up", () => null, "closed the connection"],
    ["is no Redis", () => "HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Redis' protocol"],
    ["never ends a line", () => `+${"k".repeat(70_000)}`, "does not speak Redis' protocol"],
    ["quotes the password", () => "-ERR unknown command 'AUTH', with args beginning with: 'canary'\r\n", "refuses AUTH (ERR)"],
  ])("stay, with the reason, if what answers %s", async (_, answer, said) => {
    const { heard, place } = await listen(answer);
    const reasons = await removeKeys(`redis://me:canary@${place}`, 20);
    expect(reasons).toHaveLength(20);
    expect([...new Set(reasons)]).toEqual([expect.stringContaining(`[connection] Redis at ${place} ${said}`)]);
    expect(reasons.join()).not.toContain("canary");
    expect(heard.sockets).toHaveLength(1);
  });

  test("at an address that is none of Redis stay, and it is not repeated", async () => {
    expect(await removeKeys("http://me:canary@127.0.0.1:1/", 1)).toEqual([
      "[usage] the address of a Redis must start with redis:// or rediss://",
    ]);
    const remover = createRemover({});
    await expect(remover.remove({ kind: "redis-key", name: "k", at: "canary" })).rejects.toThrow(/^\[usage\] (?!.*canary)/);
  });
});

describe("a place", () => {
  const addresses = ["host=source user=u", undefined, "postgres://u:p@source/db", "postgres://s:q@sink/db?sslmode=require"];

  test("is entered with the login that was given for it, among several", () => {
    expect(withLogin("postgres://sink/db", addresses)).toBe("postgres://s:q@sink/db?sslmode=require");
    expect(withLogin("postgres://source/db", addresses)).toBe("postgres://u:p@source/db");
  });

  test.each(["postgres://sink/other", "postgres://sink:5433/db", "postgres://elsewhere/db", "postgresql://sink/db", "no place"])(
    "such as %s learns no login that was given for another one",
    (at) => expect(withLogin(at, addresses)).toBe(at),
  );

  test("is shown without what moves the cursor or turns the direction of text", () => {
    expect(thingText({ kind: "topic", name: "a\u202eb\u001b[2Kc", at: "h:1\nh:2" })).toBe("topic a?b?[2Kc at h:1 h:2");
  });
});
