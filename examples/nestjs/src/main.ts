import "reflect-metadata";
import { closeWithConsumer } from "@cdckit/nestjs";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { AppModule } from "./app.module.js";
import { logger, nestLogger } from "./logger.js";

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: nestLogger, forceCloseConnections: true });

closeWithConsumer(app);
await app.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
logger.info(`listening at ${await app.getUrl()}`);
