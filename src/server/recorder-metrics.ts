/** What `/metrics` shows of recording. */
import { Counter, Gauge, type Registry } from "prom-client";

/** Figures of the recorder, counted since it was opened. */
export type RecorderSource = () => {
  /** Bundles that are being written, finished, and stopped for a fault. */
  open: number;
  finished: number;
  failed: number;
  /** Of the finished ones. */
  bytes: number;
  /** Requests that its thread has not served yet. */
  queued: number;
};

export function addRecorderMetrics(registry: Registry, read: RecorderSource): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  };
  gauge("shinken_bundles_open", "Bundles that are being written.", () => read().open);
  gauge("shinken_recorder_queued", "Requests that the recorder has not served yet.", () => read().queued);
  new Counter({
    name: "shinken_bundles_total",
    help: "Bundles that are no longer written, by what became of them.",
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      this.reset();
      const { finished, failed } = read();
      this.inc({ outcome: "finished" }, finished);
      this.inc({ outcome: "failed" }, failed);
    },
  });
  new Counter({
    name: "shinken_bundle_bytes_total",
    help: "Bytes of the finished bundles, without the content beside them.",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read().bytes);
    },
  });
}
