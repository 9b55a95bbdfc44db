import { describe, expect, it } from 'vitest';
import { deviceOf } from '#api/fake-devices.ts';
import { answerOf, isAppliedNowhere } from './summary.tsx';

const NOW = Date.parse('2026-11-20T10:10:00.000Z');
const { enforcement, capabilities } = deviceOf();
const pending = deviceOf({
  device_name: 'Tower',
  enforcement: { ...enforcement, state: 'pending', pending_since: '2026-11-20T10:00:00.000Z' },
});
const silent = deviceOf({ device_name: 'Tower', state: 'offline', last_seen_at: '2026-11-18T10:00:00.000Z' });
const refused = deviceOf({
  device_name: 'Old',
  enforcement: { ...enforcement, state: 'rejected', errors: [{ rule_id: null, message: 'No such thing.' }] },
});
const off = deviceOf({
  device_name: 'Mac',
  capabilities: capabilities && { ...capabilities, firewall: 'unavailable', firewall_reason: 'This is no Linux.' },
});

describe('whether the rules are in force', () => {
  it.each([
    ['no device', [], 'unknown', 'No device applies these rules yet.'],
    ['one that applies them', [deviceOf()], 'good', 'Your rules are applied on Laptop.'],
    ['one that has not answered', [deviceOf(), pending], 'attention', 'Your rules are pending on Tower.'],
    ['one that refused them', [pending, refused], 'danger', 'Old couldn’t apply your rules.'],
    ['one that cannot', [deviceOf(), off], 'attention', 'Your rules are applied on Laptop.'],
    ['one that is silent', [deviceOf(), silent], 'attention', 'Tower hasn’t reported since Nov 18, 10:00 AM.'],
    ['none that can', [off], 'attention', 'No device applies these rules yet.'],
  ])('with %s', (_, devices, tone, title) => {
    expect(answerOf(devices, NOW)).toMatchObject({ tone, title });
  });

  it('no rule has an effect where there is no device, or none that can', () => {
    expect([[], [off], [deviceOf(), off]].map(isAppliedNowhere)).toEqual([true, true, false]);
  });

  it('says since when it is pending, and why it was refused', () => {
    expect(answerOf([pending], NOW).sentence).toMatch(/^You changed them 10 minutes ago\./u);
    expect(answerOf([refused], NOW).sentence).toMatch(/^No such thing\./u);
    expect(answerOf([off], NOW).sentence).toBe('This is no Linux.');
  });

  it('leads to a new device where none applies them, and to the one that refused them', () => {
    for (const devices of [[], [off]]) expect(answerOf(devices, NOW).fix).toMatchObject({ label: 'Add a device' });
    expect(answerOf([refused], NOW).fix).toMatchObject({ to: `/devices?device=${refused.id}` });
    expect(answerOf([deviceOf()], NOW).fix).toBeUndefined();
  });
});

it('says what a kernel refused as a sentence of its own', () => {
  const errors = [{ rule_id: null, message: 'Operation not supported' }];
  const device = deviceOf({ enforcement: { ...enforcement, state: 'rejected', errors } });
  expect(answerOf([device], NOW).sentence).toBe('Operation not supported. Your previous rules still apply there.');
});
