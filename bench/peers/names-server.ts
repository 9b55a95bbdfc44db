// The resolver of web protection alone, with one list: bench/names.ts starts it.
import { createReadStream } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { ListLines } from '@palisade/names/list-lines';
import { listenPlain } from '@palisade/names/listen';
import { NameListBuilder } from '@palisade/names/name-list';
import { neverRefused } from '@palisade/names/never-refused';
import { Resolver } from '@palisade/names/resolver';
import { plainUpstream } from '@palisade/names/upstream';

const [path = '', upstream_port = ''] = process.argv.slice(2);
const LINES_AT_ONCE = 500;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const began = performance.now();
const builder = new NameListBuilder();
const lines = new ListLines();
let read = 0;
for await (const line of createInterface({ input: createReadStream(path) })) {
  for (const name of lines.read(line)) builder.add(name);
  if (++read % LINES_AT_ONCE === 0) await turn();
}
const list = await builder.finish();
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
