/**
 * Rules against a kernel, in network namespaces of its own: random rules and packets compared with the contract's judge, what passes while rules are replaced, and what
 * applying, an edit up to its proof, connecting and analysing cost beside bare nft and no rules at all; and what a built agent takes at rest beside a bare Node. Needs
 * npm run build once, nft, ip, unshare and python3; root or a kernel that lets a plain user be root in a namespace.
 *
 *     node bench/firewall.ts [SEED] [RULESETS] [PACKETS] [SECONDS_AT_REST]
 *
 * A run with fewer rulesets or seconds than the bars ask for keeps its figures in results/firewall-small.json.
 */
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
