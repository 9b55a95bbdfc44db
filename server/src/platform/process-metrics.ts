import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** Interval at which the event loop's delay is sampled, in ms. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 30_000;

interface Delay {
  p50: number;
  p99: number;
  max: number;
}

/** The delay of the event loop in the last complete window, or so far in the first one. Reading does not reset the window. */
function watchDelay(): { read: () => Delay; close: () => void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  // The histogram records the whole time between two samples.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  const now = (): Delay => ({
    p50: seconds(histogram.percentile(50)),
    p99: seconds(histogram.percentile(99)),
    max: seconds(histogram.max),
  });
  let last: Delay | undefined;
  histogram.enable();
  const timer = setInterval(() => {
    last = now();
    histogram.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    read: () => last ?? now(),
    close() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

/** Measures this process, under the metric names that are usual for Node. Returns the function that stops it. */
export function measureProcess(metrics: Metrics): () => void {
  const delay = watchDelay();
  for (const name of ['p50', 'p99', 'max'] as const) {
    metrics.gauge(`nodejs_eventloop_lag_${name}_seconds`, `Event loop delay in the last ${WINDOW_MS / 1_000} s: ${name}.`, () => [
      { value: delay.read()[name] },
    ]);
  }
  metrics.gauge('process_resident_memory_bytes', 'Memory of the server process.', () => [{ value: process.memoryUsage.rss() }]);
  metrics.gauge('nodejs_heap_size_used_bytes', 'Memory used by its objects.', () => [{ value: process.memoryUsage().heapUsed }]);
  metrics.gauge('nodejs_external_memory_bytes', 'Memory outside the heap.', () => [{ value: process.memoryUsage().external }]);
  metrics.total('process_cpu_seconds_total', 'Processor time of the server process.', () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / MICROSECONDS }];
  });
  const started_at = Date.now() / 1_000 - process.uptime();
  metrics.gauge('process_start_time_seconds', 'Start time of the server process, in seconds since 1970.', () => [
    { value: started_at },
  ]);
  return delay.close;
}
