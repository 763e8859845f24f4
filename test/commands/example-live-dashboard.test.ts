import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findChromium, launchChromium } from "../integration/chromium.ts";
import { exampleEnvironment, startExample, withStackForExamples } from "./example-service.ts";
import { arePicturesTaken, takePicture } from "../integration/pictures.ts";

const found = await withStackForExamples();
const chromium = findChromium();
const skipReason = found.skip !== false ? found.skip : chromium.skip !== false ? chromium.skip : "";

describe.skipIf(skipReason !== "")("the example of a live dashboard", { meta: { skipReason } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};
  let database: pg.Client;
  let browser: Browser;

  beforeAll(async () => {
    if (found.skip !== false || chromium.skip !== false) return;
    database = new pg.Client({ ...found.part.postgres });
    [browser] = await Promise.all([launchChromium(chromium.path), database.connect()]);
    await database.query("insert into shop.parcels values (1, 'Ada', 'Basel', 'packed'), (2, 'Grace', 'Lyon', 'packed')");
  });
  afterAll(() => Promise.all([database?.end(), browser?.close()]));

  test("shows the rows that are there, and each change without a reload, in every browser", async () => {
    const service = await startExample("live-dashboard", env);
    const [page, other] = await Promise.all([open(service.url), open(service.url)]);
    for (const each of [page, other]) {
      await each.locator("[data-state=packed] article", { hasText: "2 · Grace" }).waitFor();
    }
    expect(await page.locator("[data-state=packed] h2 b").textContent()).toBe("2");

    await database.query("insert into shop.parcels values (3, '<img src=x onerror=alert(1)>', 'Porto', 'packed')");
    await page.locator("[data-state=packed] article", { hasText: "3 · <img src=x onerror=alert(1)>" }).waitFor();
    expect(await page.locator("article img, li img").count()).toBe(0);

    await database.query("update shop.parcels set state = 'sent' where id = 1");
    for (const each of [page, other]) {
      await each.locator("[data-state=sent] article", { hasText: "1 · Ada" }).waitFor();
      expect(await each.locator("li", { hasText: "update parcel 1" }).textContent()).toContain("state: packed → sent");
    }
    expect(await page.locator("[data-state=packed] article").count()).toBe(2);

    await database.query("delete from shop.parcels where id = 3");
    await page.locator("article[data-id='3']").waitFor({ state: "detached" });
    await page.locator("li", { hasText: "delete parcel 3" }).waitFor();
    if (arePicturesTaken) await takePageOfADay(page);

    await database.query("insert into shop.parcels values (9007199254740993, 'Radia', 'Turku', 'packed')");
    await page.locator("article", { hasText: "9007199254740993 · Radia" }).waitFor();
    await writeTruncate();
    await page.locator("article").first().waitFor({ state: "detached" });
    expect(await page.locator("article").count()).toBe(0);

    expect(await service.stop()).toBe(0); // while browsers look on
    await page.getByText("connecting again").waitFor();
  });

  /** As Debezium writes it with `skipped.operations=none`. */
  async function writeTruncate(): Promise<void> {
    const producer = new Kafka({ brokers: [env["KAFKA_BROKERS"] ?? ""], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const source = { connector: "postgresql", db: "sales", schema: "shop", table: "parcels", lsn: 1 };
    await producer.send({
      topic: "av.shop.parcels",
      messages: [{ value: JSON.stringify({ before: null, after: null, source, op: "t" }) }],
    });
    await producer.disconnect();
  }

  async function open(url: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1_000, height: 620 }, colorScheme: "light", reducedMotion: "reduce" });
    onTestFinished(() => page.close());
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(url);
    await page.getByText("live", { exact: true }).waitFor();
    return page;
  }

  /** More parcels, so that there is something to see in the picture. */
  async function takePageOfADay(page: Page): Promise<void> {
    await database.query(`insert into shop.parcels values (4, 'Katherine', 'Graz', 'packed'), (5, 'Radia', 'Turku', 'packed'),
      (6, 'Barbara', 'Ghent', 'sent'), (7, 'Margaret', 'Porto', 'delivered')`);
    await database.query("update shop.parcels set state = 'delivered' where id = 1");
    await database.query("update shop.parcels set state = 'sent' where id = 4");
    await page.locator("[data-state=sent] article", { hasText: "4 · Katherine" }).waitFor();
    await takePicture(page, "live-dashboard");
  }
});
