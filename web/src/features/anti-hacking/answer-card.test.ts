import { describe, expect, it } from 'vitest';
import { alertCountsOf, monitorOf } from '#api/fake-records.ts';
import { answerOf } from './answer-card.tsx';

const GRAVEST = { id: '01930000-0000-7000-8000-000000000401', threat_type: 'brute_force', severity: 'low' } as const;

const answerTo = (alerts: Parameters<typeof alertCountsOf>[0]) => answerOf(monitorOf({ alerts: alertCountsOf(alerts) }));

describe('the answer of the anti-hacking screen', () => {
  it('is that nothing needs the person, without alerts and with simulated alerts alone', () => {
    expect(answerTo({})).toMatchObject({ tone: 'good', sentence: 'Nothing needs you right now.' });
    const practised = answerTo({ active: 3 });
    expect(practised.tone).toBe('good');
    expect(practised.detail).toMatch(/^The alerts below are simulated\./u);
  });

  it('says that what was tried was stopped, and how much that was', () => {
    expect(answerTo({ active: 1, real: 1 })).toMatchObject({
      sentence: 'We stopped every threat.',
      detail: 'One threat blocked. No action needed.',
    });
    expect(answerTo({ active: 1_300, real: 1_234 }).detail).toMatch(/^1,234 threats blocked; 66 simulated alerts not counted\./u);
    expect(answerTo({ active: 3, real: 2 }).detail).toMatch(/^2 threats blocked; one simulated alert not counted\./u);
  });

  it('leads to the gravest alert that was not stopped, on whichever page of the list it is', () => {
    expect(answerTo({ active: 900, real: 900, unstopped: 2, gravest: { ...GRAVEST, severity: 'critical' } })).toMatchObject({
      tone: 'danger',
      sentence: '2 alerts need you.',
      first: GRAVEST.id,
    });
    expect(answerTo({ active: 1, real: 1, unstopped: 1, gravest: GRAVEST })).toMatchObject({
      tone: 'attention',
      sentence: 'One alert needs you.',
    });
  });

  it('claims nothing while nothing is watched', () => {
    const watches = [{ id: 'files' as const, is_watched: false, reason: 'The engine is down.' }];
    expect(answerOf(monitorOf({ watches })).tone).toBe('unknown');
  });
});
