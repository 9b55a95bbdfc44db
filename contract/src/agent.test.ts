import { expect, it } from 'vitest';
import { agentChannel, canonicalRules, desiredSchema, enrolmentCodeSchema, saidSchema } from './agent.ts';
import type { TypedRule } from './device-rule.ts';

const ID = '01999c1e-0000-7000-8000-000000000001';
const OTHER = '01999c1e-0000-7000-8000-000000000002';
const RULE: TypedRule = {
  id: ID,
  direction: 'inbound',
  action: 'block',
  protocol: 'tcp',
  source_ip: '10.0.0.0/8',
  destination_ip: '*',
  port: '22',
  expires_at: null,
};

it('gives one text for the same rules in any order', () => {
  const defaults = { inbound: 'allow', outbound: 'allow' } as const;
  const second: TypedRule = { ...RULE, id: OTHER, port: '80' };
  const text = canonicalRules({ defaults, rules: [RULE, second], block_list: ['10.0.0.2', '10.0.0.1'] });
  expect(canonicalRules({ defaults, rules: [second, RULE], block_list: ['10.0.0.1', '10.0.0.2'] })).toBe(text);
  expect(canonicalRules({ defaults, rules: [RULE], block_list: [] })).not.toBe(text);
  expect(canonicalRules({ defaults: { ...defaults, inbound: 'block' }, rules: [RULE, second], block_list: [] })).not.toBe(text);
});

it('reads an enrolment code as people type it', () => {
  expect(enrolmentCodeSchema.parse(' k7m4q-p9xda ')).toBe('K7M4QP9XDA');
  for (const code of ['', 'K7M4QP9XD', 'K7M4QP9XD0', 'K7M4QP9XDAA', 7])
    expect(enrolmentCodeSchema.safeParse(code).success).toBe(false);
});

it('refuses frames that are too many, too long or of another kind', () => {
  const counters = Array.from({ length: 1_003 }, () => ({ of: ID, packets: 1, bytes: 1 }));
  const report = {
    kind: 'report',
    seq: 1,
    epoch: '2026-11-20T10:00:00.000Z',
    blocked: [],
    telemetry: null,
    posture: [],
    foreign_tables: [],
  };
  expect(saidSchema.safeParse({ ...report, counters }).success).toBe(false);
  expect(saidSchema.safeParse({ ...report, counters: counters.slice(3) }).success).toBe(true);
  expect(saidSchema.safeParse({ ...report, counters: [{ of: ID, packets: -1, bytes: 1 }] }).success).toBe(false);
  expect(saidSchema.safeParse({ ...report, counters: [{ of: 'inbound', packets: Number.MAX_VALUE, bytes: 1 }] }).success).toBe(
    false,
  );
  expect(saidSchema.safeParse({ kind: 'desired' }).success).toBe(false);
  expect(agentChannel.hello.safeParse({ kind: 'hello', token: 'x' }).success).toBe(false);
});

it('takes as many rules as a device may have and no more', () => {
  const rules = Array.from({ length: 1_001 }, () => RULE);
  const desired = {
    ...{
      kind: 'desired',
      rev: 1,
      hash: '0'.repeat(64),
      defaults: { inbound: 'allow', outbound: 'allow' },
      block_list: ['10.0.0.0/8'],
    },
    ...{ scan_jobs: [], file_orders: [], exclusions: [], watched: ['/srv/in'], is_watching: true, signatures: null },
  };
  expect(desiredSchema.safeParse({ ...desired, rules }).success).toBe(false);
  expect(desiredSchema.safeParse({ ...desired, rules: rules.slice(1) }).success).toBe(true);
  expect(desiredSchema.safeParse({ ...desired, rules: [], watched: ['in'] }).success).toBe(false);
  expect(desiredSchema.safeParse({ ...desired, rules: [], block_list: ['*'] }).success).toBe(false);
});
