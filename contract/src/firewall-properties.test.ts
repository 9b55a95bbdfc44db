import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newRuleSchema, type Rule } from './firewall.ts';
import { fieldText, readAddresses, readPorts } from './firewall-grammar.ts';
import type { Packet } from './firewall-traffic.ts';
import { findings, verdict } from './firewall-verdict.ts';
import { type IpAddress, parseIp, printIp } from './ip-address.ts';

/** Of every runtime; the types of the contract have none of them. */
declare const URL: { canParse(text: string): boolean; new (text: string): { hostname: string } };

const ipv4 = fc.nat({ max: 0xffffffff }).map((value): IpAddress => ({ family: 4, value: BigInt(value) }));
const ipv6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value): IpAddress => ({ family: 6, value }));

/** Few addresses and ports, so that rules meet each other and packets meet rules. */
const near = fc.integer({ min: 0, max: 15 });
const nearAddress = (family: 4 | 6) =>
  near.map((value) => (family === 4 ? `10.0.0.${value}` : `2001:db8::${value.toString(16)}`));
const nearEntry = (family: 4 | 6) =>
  fc.oneof(
    nearAddress(family),
    fc.tuple(near, near).map(([a, b]) => {
      const base = family === 4 ? '10.0.0.' : '2001:db8::';
      const [from, to] = a < b ? [a, b] : [b, a];
      return family === 4 ? `${base}${from}-${base}${to}` : `${base}${from.toString(16)} - ${base}${to.toString(16)}`;
    }),
    fc.constantFrom(
      ...(family === 4 ? ['10.0.0.0/29', '10.0.0.8/30', '0.0.0.0/0'] : ['2001:db8::/125', '2001:db8::8/126', '::/0']),
    ),
  );
const field = (entry: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.constantFrom('*', 'any', ''),
    fc.array(entry, { minLength: 1, maxLength: 3 }).map((entries) => entries.join(', ')),
  );
const portEntry = fc.oneof(
  near.map((value) => String(value + 1)),
  fc.tuple(near, near).map(([a, b]) => `${Math.min(a, b) + 1}-${Math.max(a, b) + 1}`),
  fc.constant('1-65535'),
);

const rule: fc.Arbitrary<Omit<Rule, 'id'>> = fc.constantFrom<(4 | 6)[]>(4, 6).chain((family) =>
  fc
    .record({
      rule_name: fc.constant('A rule'),
      direction: fc.constantFrom<Rule['direction'][]>('inbound', 'outbound'),
      action: fc.constantFrom<Rule['action'][]>('allow', 'block'),
      protocol: fc.constantFrom<Rule['protocol'][]>('tcp', 'udp', 'icmp', 'all'),
      source_ip: field(nearEntry(family)),
      destination_ip: field(nearEntry(family)),
      port: field(portEntry),
      enabled: fc.boolean(),
      created_at: fc.constant('2026-11-20T10:00:00.000Z'),
      expires_at: fc.constant(null),
      device_ids: fc.constant<string[]>([]),
    })
    .map((made) => (made.protocol === 'icmp' ? { ...made, port: '*' } : made)),
);
const rules = fc
  .array(rule, { maxLength: 12 })
  .map((made) => made.map((one, index): Rule => ({ ...one, id: `01930000-0000-7000-8000-${String(index).padStart(12, '0')}` })));

const packet: fc.Arbitrary<Packet> = fc.constantFrom<(4 | 6)[]>(4, 6).chain((family) => {
  const address = fc.oneof(
    {
      weight: 9,
      arbitrary: near.map(
        (value): IpAddress => ({ family, value: BigInt(value) + (family === 4 ? 0x0a000000n : 0x20010db8n << 96n) }),
      ),
    },
    { weight: 1, arbitrary: family === 4 ? ipv4 : ipv6 },
  );
  return fc
    .record({
      direction: fc.constantFrom<Packet['direction'][]>('inbound', 'outbound'),
      protocol: fc.constantFrom<Packet['protocol'][]>('tcp', 'udp', 'icmp'),
      source: address,
      destination: address,
      port: fc.oneof(fc.integer({ min: 1, max: 18 }), fc.integer({ min: 1, max: 65_535 })),
    })
    .map((made): Packet => (made.protocol === 'icmp' ? { ...made, port: null } : made));
});

const isEvery = (text: string) => ['*', 'any', ''].includes(text);

/** A second, plain reading of the grammar: entry by entry, without sets. */
function naiveAddress(text: string, address: IpAddress): boolean {
  if (isEvery(text)) return true;
  return text.split(',').some((part) => {
    const entry = part.trim();
    const [network = '', length] = entry.split('/');
    if (length !== undefined) {
      const base = parseIp(network);
      const shift = BigInt((address.family === 4 ? 32 : 128) - Number(length));
      return base?.family === address.family && base.value >> shift === address.value >> shift;
    }
    const [from, to] = entry.split('-').map((end) => parseIp(end.trim()));
    const last = to ?? from;
    return from?.family === address.family && last !== undefined && from.value <= address.value && address.value <= last.value;
  });
}

function naiveMatch(one: Rule, { direction, protocol, source, destination, port }: Packet): boolean {
  const ports = one.port.split(',').map((part) => part.split('-').map(Number));
  return (
    one.enabled &&
    one.direction === direction &&
    (one.protocol === 'all' || one.protocol === protocol) &&
    naiveAddress(one.source_ip, source) &&
    naiveAddress(one.destination_ip, destination) &&
    (isEvery(one.port) || (port !== null && ports.some(([from = 0, to = from]) => from <= port && port <= to)))
  );
}

function naiveAction(all: readonly Rule[], one: Packet): Rule['action'] {
  const matching = all.filter((candidate) => naiveMatch(candidate, one));
  if (matching.some(({ action }) => action === 'block')) return 'block';
  if (matching.some(({ action }) => action === 'allow')) return 'allow';
  return one.direction === 'inbound' ? 'block' : 'allow';
}

const RUNS = { numRuns: 1_000 };

describe('addresses', () => {
  test('a printed address reads as the same address', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        expect(parseIp(printIp(address))).toEqual(address);
      }),
      RUNS,
    );
  });

  test('a full address reads as the same address', () => {
    fc.assert(
      fc.property(ipv6, ({ value }) => {
        const digits = value.toString(16).padStart(32, '0');
        expect(parseIp((digits.match(/.{4}/gu) ?? []).join(':').toUpperCase())?.value).toBe(value);
      }),
      RUNS,
    );
  });

  test('the address parser of the platform accepts the same texts', () => {
    const likely = fc.array(fc.constantFrom(':', '::', '0', '1', 'ff', 'ffff', '.', '10', '255', '256', '01'), { maxLength: 17 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          fc.ipV6(),
          likely.map((parts) => parts.join('')),
        ),
        (text) => {
          const isUrlHost = URL.canParse(`http://[${text}]/`);
          if (text.includes(':')) expect(parseIp(text) !== undefined).toBe(isUrlHost);
          else if (parseIp(text)) expect(new URL(`http://${text}/`).hostname).toBe(text);
        },
      ),
      { numRuns: 1_500 },
    );
  });
});

describe('fields', () => {
  test('any input is read or refused with a sentence, and stored input reads alike', () => {
    const typed = fc.oneof(fc.string({ unit: 'binary' }), field(nearEntry(4)), field(nearEntry(6)), field(portEntry));
    fc.assert(
      fc.property(typed, (text) => {
        for (const read of [readAddresses, readPorts]) {
          const reading = read(text);
          if (reading.ok) expect(read(fieldText(text))).toEqual(reading);
          else expect(reading.message).not.toBe('');
        }
      }),
      RUNS,
    );
  });

  test('a list is as good as its entries in any order', () => {
    fc.assert(
      fc.property(
        fc
          .array(nearEntry(4), { minLength: 1, maxLength: 8 })
          .chain((entries) => fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length }))),
        ([entries, shuffled]) => {
          expect(readAddresses(shuffled.join())).toEqual(readAddresses(entries.join(' , ')));
        },
      ),
      RUNS,
    );
  });

  test('every rule that these tests make is one that the server takes', () => {
    fc.assert(
      fc.property(rule, (made) => {
        expect(newRuleSchema.safeParse(made).success).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('verdicts', () => {
  test('are those of a naive reading, by a rule that matches', () => {
    fc.assert(
      fc.property(rules, packet, (all, one) => {
        const { action, rule: by } = verdict(all, one);
        expect(action).toBe(naiveAction(all, one));
        if (by) expect([by.action, naiveMatch(by, one)]).toEqual([action, true]);
        else expect(all.some((candidate) => naiveMatch(candidate, one))).toBe(false);
      }),
      { numRuns: 1_500 },
    );
  });

  test('do not depend on the order of the rules, nor do findings', () => {
    const shuffled = rules.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
    fc.assert(
      fc.property(shuffled, packet, ([all, mixed], one) => {
        expect(verdict(mixed, one)).toEqual(verdict(all, one));
        expect(new Set(findings(mixed).map((finding) => JSON.stringify(finding)))).toEqual(
          new Set(findings(all).map((finding) => JSON.stringify(finding))),
        );
      }),
      RUNS,
    );
  });

  test('are never decided by a rule that is found needless, and stay the same without it', () => {
    fc.assert(
      fc.property(rules, packet, (all, one) => {
        const actions = new Map(all.map(({ id, action }) => [id, action]));
        const needless = findings(all)
          .filter(({ kind, rule_id }) => kind !== 'contradicting' || actions.get(rule_id) === 'allow')
          .map(({ rule_id }) => rule_id);
        const decided = verdict(all, one);
        expect(needless).not.toContain(decided.rule?.id);
        expect(
          verdict(
            all.filter(({ id }) => !needless.includes(id)),
            one,
          ).action,
        ).toBe(decided.action);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a finding names two enabled rules of one direction', () => {
    fc.assert(
      fc.property(rules, (all) => {
        for (const { kind, rule_id, other_id } of findings(all)) {
          const [one, other] = [rule_id, other_id].map((id) => all.find((candidate) => candidate.id === id));
          expect([one?.enabled, other?.enabled, one?.direction]).toEqual([true, true, other?.direction]);
          if (kind !== 'never_matching') expect(one?.action === other?.action).toBe(kind === 'duplicate');
        }
      }),
      RUNS,
    );
  });
});
