// Measures rules in a kernel, in network namespaces of its own: random packets beside the contract's judge; leaks while rules are replaced; applying, editing, connecting and analysing beside a bare nft; a built agent at rest beside a bare Node.
// Bars: 0 differences and leaks; 1,000 rules applied 2x, an edit of 100 rules 1.5x a bare nft and 500 ms (p95) to its proof; a connection 2.5x none; analysis 150 ms; at rest 60 MB and 0.2 % of a core. Keeps results/firewall.json; a run with
// fewer rulesets or seconds keeps results/firewall-small.json. `node bench/firewall.ts [SEED] [RULESETS] [PACKETS] [SECONDS_AT_REST]`.
// Needs npm run build once, nft, ip, unshare and python3; root, or a kernel that lets a plain user be root in a namespace.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { unpackAgent } from './built-agent.ts';
import { describeMachine, RESULTS, ROOT } from './server.ts';

const restShape = { rss_mb: z.number(), cpu_percent: z.number() };
const resultSchema = z.object({
  fuzz: z.looseObject({ mismatches: z.int() }),
  leak: z.looseObject({ leaked: z.int(), counter_drift: z.int() }),
  apply: z.looseObject({ ratio: z.number() }),
  click: z.looseObject({ ratio: z.number(), p95_ms: z.number() }),
  rest: z.looseObject({ ...restShape, beating: z.object({ ...restShape, own_mb: z.number() }) }),
  connections: z.looseObject({ ratio: z.number() }),
  analysis: z.looseObject({ ms: z.number() }),
});

const [seed = '20261122', rulesets = '60', packets = '6000', seconds = '120'] = process.argv.slice(2);
const is_whole = Number(rulesets) >= 60 && Number(packets) >= 6_000 && Number(seconds) >= 120;
const agent = unpackAgent();
const measured = spawnSync(
  process.execPath,
  [join(ROOT, 'agent/test/measure.ts'), agent.program, seed, rulesets, packets, seconds],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
);
agent.remove();
if (measured.status !== 0) throw new Error('it could not be measured');
const result = resultSchema.parse(JSON.parse(measured.stdout));
writeFileSync(
  join(RESULTS, is_whole ? 'firewall.json' : 'firewall-small.json'),
  `${JSON.stringify({ when: new Date().toISOString(), machine: describeMachine(), ...result }, undefined, 2)}\n`,
);
console.log(JSON.stringify(result, undefined, 2));
process.exit(result.fuzz.mismatches === 0 && result.leak.leaked === 0 ? 0 : 1);
