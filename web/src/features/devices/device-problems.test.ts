import { describe, expect, it } from 'vitest';
import { deviceOf } from '#api/fake-devices.ts';
import { byNeed, problemsOf } from './device-problems.ts';

const NOW = Date.parse('2026-11-23T10:05:00.000Z');
const NAMES = new Map([['r1', 'Office']]);
const { enforcement, capabilities } = deviceOf();
const refused = (rule_id: string | null) =>
  deviceOf({ enforcement: { ...enforcement, state: 'rejected', errors: [{ rule_id, message: 'Not supported.' }] } });
const off = deviceOf({ capabilities: capabilities && { ...capabilities, firewall: 'unavailable', firewall_reason: 'No nft.' } });
const silent = deviceOf({ state: 'offline' });
const updates = { check: 'security_updates', state: 'fail', evidence: 'Security updates wait for openssl.' } as const;
const dated = { ...updates, checked_at: '2026-11-20T10:00:00.000Z' };

describe('the problems of a device', () => {
  it.each([
    ['that is well', deviceOf(), []],
    [
      'that is silent',
      silent,
      ['It last reported 3 days ago. Turn it on and connect it to the internet. If it is on, restart its agent.'],
    ],
    ['that cannot apply rules', off, ['It can’t apply rules. No nft.']],
    ['that refused a rule', refused('r1'), ['“Office”: Not supported.']],
    ['that refused a deleted rule', refused('r2'), ['A deleted rule: Not supported.']],
    ['that refused all rules', refused(null), ['It couldn’t apply your rules. Not supported.']],
    [
      'that waits for updates',
      deviceOf({ posture: [dated] }),
      ['Security updates wait for openssl. Install them on the device.'],
    ],
    ['that is revoked', { ...refused('r1'), state: 'revoked' as const }, []],
  ])('%s', (_, device, sentences) => {
    expect(problemsOf(device, NAMES, NOW).map(({ sentence }) => sentence)).toEqual(sentences);
  });

  it('leads to the rule itself', () => {
    expect(problemsOf(refused('r1'), NAMES, NOW)[0]?.fix).toEqual({ to: '/firewall?rule=r1', label: 'Open the rule' });
  });

  it('has an old agent updated, and unread files scanned again', () => {
    expect(problemsOf(deviceOf({ agent_version: '1.0.0' }), NAMES, NOW)[0]?.sentence).toContain('version 1.0.0');
    const health = { watcher: 'working', overflow: null, files_unread: 1, workers_stuck: 0 } as const;
    expect(problemsOf(deviceOf({ health }), NAMES, NOW)[0]?.fix).toEqual({ scan: 'full' });
  });

  it('comes first in the list, after devices that wait to be confirmed', () => {
    const [fine, waiting, revoked] = [deviceOf(), deviceOf({ state: 'waiting' }), deviceOf({ state: 'revoked' })];
    expect(byNeed([revoked, fine, silent, off, waiting], NOW)).toEqual([waiting, off, silent, fine, revoked]);
  });
});
