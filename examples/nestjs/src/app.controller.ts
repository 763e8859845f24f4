import { CdcService } from "@cdckit/nestjs";
import { Controller, Get, Inject, ServiceUnavailableException } from "@nestjs/common";
import { type Stock, StockService } from "./stock.service.js";

/** What others may ask: the stock, and how the app is. */
@Controller()
export class AppController {
  readonly #stock: StockService;
  readonly #cdc: CdcService;

  constructor(@Inject(StockService) stock: StockService, @Inject(CdcService) cdc: CdcService) {
    this.#stock = stock;
    this.#cdc = cdc;
  }

  @Get("stock")
  stock(): readonly Stock[] {
    return this.#stock.all();
  }

  @Get("healthz")
  live(): object {
    return this.#health("live");
  }

  @Get("readyz")
  ready(): object {
    return this.#health("ready");
  }

  #health(member: "live" | "ready"): object {
    const { live, ready, phase, reasons } = this.#cdc.health();
    const report = { live, ready, phase, reasons };
    if (!report[member]) {
      throw new ServiceUnavailableException(report);
    }
    return report;
  }
}
