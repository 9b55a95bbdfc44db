/**
 * Rules against a kernel, in network namespaces of its own: random rules and packets compared with the contract's judge, what passes while rules are replaced, and what
 * applying, connecting and analysing cost beside bare nft and no rules at all. Needs nft, ip, unshare and python3; root or a kernel that lets a plain user be root in a
 * namespace.
 *
 *     node bench/firewall.ts [SEED] [RULESETS] [PACKETS]
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { describeMachine, RESULTS, ROOT } from './server.ts';

const resultSchema = z.object({
  fuzz: z.looseObject({ mismatches: z.int() }),
  leak: z.looseObject({ leaked: z.int(), counter_drift: z.int() }),
  apply: z.looseObject({ ratio: z.number() }),
  connections: z.looseObject({ ratio: z.number() }),
  analysis: z.looseObject({ ms: z.number() }),
});

const [seed = '20261122', rulesets = '60', packets = '6000'] = process.argv.slice(2);
const measured = spawnSync(process.execPath, [join(ROOT, 'agent/test/measure.ts'), seed, rulesets, packets], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (measured.status !== 0) throw new Error('it could not be measured');
const result = resultSchema.parse(JSON.parse(measured.stdout));
writeFileSync(
  join(RESULTS, 'firewall.json'),
  `${JSON.stringify({ when: new Date().toISOString(), machine: describeMachine(), ...result }, undefined, 2)}\n`,
);
console.log(JSON.stringify(result, undefined, 2));
process.exit(result.fuzz.mismatches === 0 && result.leak.leaked === 0 ? 0 : 1);
