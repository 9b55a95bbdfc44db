import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

const DRIVER = fileURLToPath(new URL('../../../test/scam-network.ts', import.meta.url));
/** A network with one way out, to an interface without anybody behind it. Leaving packets are counted. */
const NETWORK = `
set -e
ip link set lo up
ip link add out0 type veth peer name out1
ip link set out1 up
ip link set out0 up
ip address add 198.51.100.2/24 dev out0
ip route add default dev out0
ip -6 address add 2001:db8::2/64 dev out0 nodad 2>/dev/null && ip -6 route add default dev out0 2>/dev/null || true
nft -f - <<'RULES'
table inet counting {
  counter dns { }
  counter other { }
  chain output {
    type filter hook output priority 0;
    meta l4proto { tcp, udp } th dport 53 counter name dns accept
    oifname "out0" meta l4proto { tcp, udp } counter name other
  }
}
RULES
exec "$0" "$1"
`;

const missing = ['unshare', 'ip', 'nft'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
const canMake = missing.length === 0 && spawnSync('unshare', ['-rn', 'nft', 'list', 'tables']).status === 0;
const why = missing.length > 0 ? `not installed: ${missing.join(', ')}` : 'no network namespace can be made';
if (!canMake) process.stdout.write(`skipped, because the check is watched in a network namespace: ${why}\n`);

const countsSchema = z.object({ dns: z.int(), other: z.int() });
const saidSchema = z.object({
  verdicts: z.array(z.string()),
  before: countsSchema,
  after: countsSchema,
  allowed: countsSchema,
  control: countsSchema,
});

test.runIf(canMake)(
  'no message makes the server ask another host, but the DNS for a signature where the person allows it',
  () => {
    const run = spawnSync('unshare', ['-rn', 'sh', '-c', NETWORK, process.execPath, DRIVER], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect(run.status, run.stderr).toBe(0);
    const { verdicts, before, after, allowed, control } = saidSchema.parse(
      JSON.parse(run.stdout.trim().split('\n').at(-1) ?? ''),
    );
    expect(verdicts.length).toBeGreaterThan(25);
    expect(after.other - before.other).toBe(0);
    expect(after.dns - before.dns).toBe(0);
    expect(allowed.dns - after.dns).toBeGreaterThan(0);
    expect(allowed.other - after.other).toBe(0);
    // A request that leaves is counted.
    expect(control.other - allowed.other).toBeGreaterThan(0);
  },
  150_000,
);
