// Loaded into the measured server (NODE_OPTIONS=--import). On SIGUSR2 it writes the longest event loop delay since the last SIGUSR2, in ms, to LOOP_GAP_FILE.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = process.env['LOOP_GAP_FILE'];
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
process.on('SIGUSR2', () => {
  if (file !== undefined) writeFileSync(file, String(delays.max / 1e6));
  delays.reset();
});
