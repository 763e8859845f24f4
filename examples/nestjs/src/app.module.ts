import { randomUUID } from "node:crypto";
import { CdcModule } from "@cdckit/nestjs";
import { Module } from "@nestjs/common";
import { kafkajs } from "cdckit";
import { addresses } from "./addresses.js";
import { AppController } from "./app.controller.js";
import { logger } from "./logger.js";
import { StockService } from "./stock.service.js";

@Module({
  imports: [
    CdcModule.forRootAsync({
      useFactory: () => {
        const { brokers, registryUrl } = addresses();
        return {
          driver: kafkajs({ brokers }),
          groupId: `nestjs-${randomUUID()}`, // of its own: the stock in memory begins empty
          topics: ["av.shop.stock"],
          registry: { url: registryUrl },
          signals: false, // closeWithConsumer listens to them, and stops the consumer
          logger,
        };
      },
    }),
  ],
  providers: [StockService],
  controllers: [AppController],
})
export class AppModule {}
