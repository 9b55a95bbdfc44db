import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyse } from '@palisade/contract/firewall-analysis';
import type { JudgedRule } from '@palisade/contract/firewall-shapes';
import type { Ruleset, Traffic } from '@palisade/contract/firewall-verdict';
import { compile, counterOf } from '#firewall/compile.ts';
import { type Bench, createBench, createRandom, fuzzOnce } from './kernel-fuzz.ts';
import { measureAgent } from './measure-agent.ts';
import { endNamespaces } from './namespace.ts';
import { packetOf } from './packets.ts';

/**
 * Measurements of `bench/firewall.ts`: the fuzz against the kernel, and the bars of enforcement, each beside its peer in the same run. Writes one JSON object.
 *
 *     node agent/test/measure.ts PROGRAM SEED RULESETS PACKETS SECONDS_AT_REST
 */
const [program = '', seed = '1', rulesets = '60', packets = '6000', seconds = '120'] = process.argv.slice(2);

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const round = (value: number) => Math.round(value * 100) / 100;

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const ID = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;
function plainRule(number: number): JudgedRule {
  return {
    id: ID(number),
    direction: number % 4 === 0 ? 'outbound' : 'inbound',
    action: number % 3 === 0 ? 'allow' : 'block',
    protocol: (['tcp', 'udp', 'all'] as const)[number % 3] ?? 'tcp',
    source_ip: `10.${100 + (number % 100)}.${Math.floor(number / 100)}.0/24`,
    destination_ip: '*',
    port: number % 5 === 0 ? '*' : `${1 + ((number * 13) % 6_000)}`,
  };
}
const rulesetOf = (count: number): Ruleset => ({
  rules: Array.from({ length: count }, (_, index) => plainRule(index)),
  defaults: { inbound: 'allow', outbound: 'allow' },
  block_list: [],
  control: [],
});

/** Compile and apply through the agent's own code, beside `nft -f` of the same text from a shell. */
async function applying(bench: Bench, folder: string) {
  const ruleset = rulesetOf(1_000);
  const { text, counters } = compile(ruleset);
  const path = join(folder, 'bare.nft');
  writeFileSync(path, text);
  await bench.nft.apply(text);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    bare.push(await timed(() => bench.device.run('nft', '-f', path)));
    ours.push(await timed(() => bench.nft.apply(compile(ruleset, counters).text)));
  }
  return {
    rules: 1_000,
    ours_ms: round(median(ours)),
    nft_ms: round(median(bare)),
    ratio: round(median(ours) / median(bare)),
    bar: 2,
  };
}

/** Connections to a port of the device itself, over its own cable address, so that the time is the kernel's. */
async function connecting(bench: Bench) {
  // The recorder drops all that comes past it.
  await bench.nft.apply('add table inet palisade\ndelete table inet palisade\ndelete table inet recorder\n');
  const script = `
import socket, time
server = socket.create_server(('10.77.0.1', 9000), backlog=512)
import threading
def serve():
    while True:
        peer, _ = server.accept()
        peer.close()
threading.Thread(target=serve, daemon=True).start()
input()
`;
  const client = `
import socket, time
def go(n):
    start = time.perf_counter()
    for _ in range(n):
        socket.create_connection(('10.77.0.1', 9000), timeout=2).close()
    return (time.perf_counter() - start) / n * 1e6
go(300)
print(min(go(600) for _ in range(5)))
`;
  const server = bench.device.start('python3', ['-c', script]);
  const run = () => Number(bench.peer.run('python3', '-c', client));
  bench.peer.run(
    'python3',
    '-c',
    "import socket, time\nfor _ in range(500):\n    try:\n        socket.create_connection(('10.77.0.1', 9000), timeout=2).close()\n        break\n    except OSError:\n        time.sleep(0.01)",
  );
  const without = run();
  await bench.nft.apply(compile(rulesetOf(1_000)).text);
  const withRules = run();
  server.kill('SIGKILL');
  return { rules: 1_000, with_us: round(withRules), without_us: round(without), ratio: round(withRules / without), bar: 2.5 };
}

/** Replaces a ruleset 60 times while packets that it blocks come in: none may pass, and every one is counted. */
async function leaking(bench: Bench) {
  const blocking: JudgedRule = {
    id: ID(1),
    direction: 'inbound',
    action: 'block',
    protocol: 'udp',
    source_ip: '*',
    destination_ip: '*',
    port: '5000',
  };
  const rulesets = [0, 50].map((more) => ({
    ...rulesetOf(0),
    rules: [blocking, ...Array.from({ length: more }, (_, index) => plainRule(index + 10))],
  }));
  let counters: readonly string[] = [];
  const load = async (index: number) => {
    const compiled = compile(rulesets[index % 2] ?? rulesetOf(0), counters);
    const done = await bench.nft.apply(compiled.text);
    if (!done.ok) throw new Error(done.message);
    counters = compiled.counters;
  };
  await bench.nft.apply('add table inet palisade\ndelete table inet palisade\n');
  await load(0);
  const packet: Traffic = {
    direction: 'inbound',
    protocol: 'udp',
    source_port: 30_000,
    port: 5_000,
    source: { family: 4, value: 0xc6120009n },
    destination: { family: 4, value: 0x0a010005n },
  };
  const flood = Array.from({ length: 20_000 }, (_, index) => packetOf(packet, 1 + index));
  let replaces = 0;
  let sent = 0;
  let passed = 0;
  while (replaces < 60) {
    const sending = bench.passed('inbound', 4, flood);
    let is_sent = false;
    void sending.finally(() => (is_sent = true));
    while (!is_sent && replaces < 200) {
      replaces += 1;
      await load(replaces);
    }
    passed += (await sending).size;
    sent += flood.length;
  }
  const counted = (await bench.counters()).get(counterOf(ID(1))) ?? 0;
  return { replaces, packets: sent, leaked: passed, counted, counter_drift: sent - counted };
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-measure-'));
try {
  const bench = await createBench(folder);
  const random = createRandom(Number(seed));
  const examples: string[] = [];
  const fuzz = {
    seed: Number(seed),
    rulesets: Number(rulesets),
    packets_of_each_protocol: Number(packets),
    packets: 0,
    blocked: 0,
    mismatches: 0,
    examples,
  };
  for (let index = 0; index < Number(rulesets); index += 1) {
    const result = await fuzzOnce(bench, random, Number(packets));
    fuzz.packets += result.packets;
    fuzz.blocked += result.blocked;
    fuzz.mismatches += result.mismatches.length;
    fuzz.examples.push(...result.mismatches.slice(0, 3));
  }
  const leak = await leaking(bench);
  const apply = await applying(bench, folder);
  const connections = await connecting(bench);
  const analysed: number[] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    analysed.push(await timed(() => analyse(rulesetOf(1_000).rules, { inbound: 'block', outbound: 'allow' })));
  }
  const analysis = { rules: 1_000, ms: round(median(analysed)), first_ms: round(analysed[0] ?? 0), bar_ms: 150 };
  bench.close();
  const { click, rest } = await measureAgent(program, Number(seconds));
  process.stdout.write(`${JSON.stringify({ fuzz, leak, apply, click, connections, analysis, rest })}\n`);
} finally {
  endNamespaces();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
