import "reflect-metadata";
import { CdcService } from "@cdckit/nestjs";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { AppModule } from "./app.module.js";
import { logger, nestLogger } from "./logger.js";

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: nestLogger, forceCloseConnections: true });

let isStopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  // Not once: a Ctrl-C under npm comes from the terminal and from npm.
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    void app.close(); // the consumer handles and commits what is in flight, then the rest closes
  });
}
void app.get(CdcService).ended.then(async (error) => {
  if (!isStopping) {
    logger.fatal(error, "the app ends, because its consumer has");
    process.exitCode = 1;
    await app.close();
  }
});

await app.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
logger.info(`listening at ${await app.getUrl()}`);
