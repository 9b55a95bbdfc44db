import { join } from 'node:path';
import { createStore } from '#agent/store.ts';
import { seenSchema } from '#scan/catch-up.ts';
import { createWatching } from '#scan/watching.ts';
import { scansAlone } from './scans-alone.ts';

// The agent's watching alone, for tests that attack it: prints findings, and each second its health. `node run-watching.ts STATE FOLDER...`
const BEAT_MS = 1_000;
const [state = '', ...folders] = process.argv.slice(2);
const say = (facts: object) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...facts })}\n`);
const scans = scansAlone({
  state,
  say(report) {
    for (const { path, outcome } of report.found) say({ event: 'found', path, outcome });
  },
});
const watching = createWatching({
  store: createStore(join(state, 'watched-until.json'), seenSchema),
  now: Date.now,
  log: (line) => process.stderr.write(`${line}\n`),
  read: (file, lane) => scans.readNew(file, lane),
});
await watching.want(
  folders.map((folder) => Buffer.from(folder)),
  [Buffer.from(state)],
);
say({ event: 'ready' });
let last = performance.now();
setInterval(() => {
  const gap_ms = Math.round(performance.now() - last - BEAT_MS);
  last = performance.now();
  say({
    event: 'beat',
    rss: process.memoryUsage.rss(),
    gap_ms,
    health: watching.health(true),
    folders: watching.state().folders,
  });
}, BEAT_MS);
