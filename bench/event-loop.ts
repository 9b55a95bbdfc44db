// Loaded into the measured server with --import: writes how long its event loop was held up to EVENT_LOOP_FILE at each SIGUSR2.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
process.on('SIGUSR2', () => {
  const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const path = process.env['EVENT_LOOP_FILE'];
  if (path !== undefined) writeFileSync(path, JSON.stringify({ max_ms: ms(delay.max), p99_ms: ms(delay.percentile(99)) }));
  delay.reset();
});
