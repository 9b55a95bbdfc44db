// Only the resolver of web protection, with one list. Started by bench/names.ts.
import { createReadStream } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { listenPlain } from '@palisade/names/listen';
import { neverRefused } from '@palisade/names/never-refused';
import { readList } from '@palisade/names/read-list';
import { Resolver } from '@palisade/names/resolver';
import { plainUpstream } from '@palisade/names/upstream';

const [path = '', upstream_port = ''] = process.argv.slice(2);
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const began = performance.now();
const list = await readList(createReadStream(path), 5_000_000);
delays.disable();
const resolver = new Resolver({
  upstreams: [plainUpstream({ host: '127.0.0.1', port: Number(upstream_port) })],
  local: [],
  never: neverRefused([]),
  now: Date.now,
});
const policy = {
  levels: [{ level: 'lists', blocked: [{ category: 'ads', names: list }] }],
  safe_search: 'moderate',
  seconds_maximum: 60,
} as const;
const { port } = await listenPlain({ host: '127.0.0.1', port: 0 }, async (message) => resolver.resolve(message, policy));
const loaded = {
  port,
  load_ms: Math.round(performance.now() - began),
  longest_gap_ms: Math.round(delays.max / 1e6),
  bytes_per_name: list.byteLength / list.size,
};
process.stdout.write(`${JSON.stringify(loaded)}\n`);
