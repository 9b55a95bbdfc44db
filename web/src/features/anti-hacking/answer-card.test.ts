import { describe, expect, it } from 'vitest';
import { alertCountsOf, monitorOf } from '#api/fake-records.ts';
import { answerOf } from './answer-card.tsx';

const GRAVEST = { id: '01930000-0000-7000-8000-000000000401', threat_type: 'brute_force', severity: 'low' } as const;

const answerTo = (alerts: Parameters<typeof alertCountsOf>[0]) => answerOf(monitorOf({ alerts: alertCountsOf(alerts) }));

describe('the answer of the anti-hacking screen', () => {
  it('is that nothing needs the person, without alerts and with practice alerts alone', () => {
    expect(answerTo({})).toMatchObject({ tone: 'good', sentence: 'Nothing needs you right now.' });
    const practised = answerTo({ active: 3 });
    expect(practised.tone).toBe('good');
    expect(practised.detail).toMatch(/^What is listed below is practice\./u);
  });

  it('says that what was tried was stopped, and how much that was', () => {
    expect(answerTo({ active: 1, real: 1 })).toMatchObject({
      sentence: 'Everything that was tried was stopped.',
      detail: 'One alert tells what it was. You need not do anything.',
    });
    expect(answerTo({ active: 1_300, real: 1_234 }).detail).toMatch(/^1,234 alerts tell what it was; 66 more are practice\./u);
    expect(answerTo({ active: 3, real: 2 }).detail).toMatch(/^2 alerts tell what it was; one more is practice\./u);
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
