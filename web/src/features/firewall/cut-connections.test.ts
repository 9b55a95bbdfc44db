import type { LiveConnection } from '@palisade/contract/agent';
import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { expect, it } from 'vitest';
import { deviceOf, telemetryOf } from '#api/fake-devices.ts';
import { cutsOf, describeCut } from './cut-connections.ts';

const ssh: LiveConnection = {
  direction: 'inbound',
  protocol: 'tcp',
  local: '10.0.0.2',
  remote: '10.0.0.9',
  port: 22,
  program: 'sshd',
};
const web: LiveConnection = { ...ssh, direction: 'outbound', remote: '203.0.113.7', port: 443, program: 'firefox' };
const telemetry = telemetryOf({ connections: [ssh, web] });
const rule = (parts: Partial<Rule>): Rule => ({
  id: '01930000-0000-7000-9000-000000000001',
  rule_name: 'A rule',
  enabled: true,
  created_at: '',
  expires_at: null,
  ...RULE_DEFAULTS,
  action: 'block',
  protocol: 'tcp',
  device_ids: [],
  ...parts,
});

it('names what a block would cut, and that an SSH session is among it', () => {
  const laptop = deviceOf({ device_name: 'Laptop', telemetry });
  const [cut] = cutsOf([], [rule({ port: '22' })], [laptop]);
  expect(cut && describeCut(cut)).toBe('Disconnects 1 live connection on “Laptop” (sshd). One is an SSH session.');
  const all = [rule({ protocol: 'all' }), rule({ direction: 'outbound', id: '01930000-0000-7000-9000-000000000002' })];
  expect(cutsOf([], all, [laptop]).map(({ connections }) => connections)).toEqual([[ssh, web]]);
});

it('says nothing of what is blocked already, of other devices, of rules that are off, and where nothing is enforced', () => {
  const laptop = deviceOf({ telemetry });
  const block = rule({ port: '22' });
  expect(cutsOf([block], [block], [laptop])).toEqual([]);
  expect(cutsOf([], [rule({ port: '22', device_ids: [deviceOf().id] })], [laptop])).toEqual([]);
  expect(cutsOf([], [rule({ port: '22', enabled: false })], [laptop])).toEqual([]);
  const { capabilities } = laptop;
  const none = { ...laptop, capabilities: capabilities && { ...capabilities, firewall: 'unavailable' as const } };
  expect(cutsOf([], [block], [none])).toEqual([]);
  expect(cutsOf([], [rule({ action: 'allow' })], [laptop])).toEqual([]);
});

it('knows that an allow that goes cuts what it let through', () => {
  const closed = deviceOf({ telemetry, defaults: { inbound: 'block', outbound: 'allow' } });
  const allow = rule({ action: 'allow', port: '22' });
  expect(cutsOf([allow], [{ ...allow, enabled: false }], [closed])[0]?.connections).toEqual([ssh]);
});
