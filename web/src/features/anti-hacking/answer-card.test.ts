import { describe, expect, it } from 'vitest';
import { alertOf } from '#api/fake-records.ts';
import { answerOf } from './answer-card.tsx';

const WATCHED = { watches: [{ id: 'files' as const, is_watched: true, reason: null }] };

describe('the answer of the anti-hacking screen', () => {
  it('is that nothing needs the person, without alerts and with practice alerts alone', () => {
    expect(answerOf([], WATCHED)).toMatchObject({ tone: 'good', sentence: 'Nothing needs you right now.' });
    expect(answerOf([alertOf({ simulated: true, blocked: false })], WATCHED).tone).toBe('good');
  });

  it('says that what was tried was stopped', () => {
    const alerts = [alertOf({ blocked: true, simulated: false })];
    expect(answerOf(alerts, WATCHED).sentence).toBe('Everything that was tried was stopped.');
  });

  it('leads to the gravest alert that is open', () => {
    const low = alertOf({ blocked: false, simulated: false, severity: 'low' });
    const critical = alertOf({ blocked: false, simulated: false, severity: 'critical' });
    expect(answerOf([low, critical], WATCHED)).toMatchObject({
      tone: 'danger',
      sentence: '2 alerts need you.',
      first: critical.id,
    });
    expect(answerOf([low], WATCHED)).toMatchObject({ tone: 'attention', sentence: 'One alert needs you.' });
  });

  it('claims nothing while nothing is watched', () => {
    const blind = { watches: [{ id: 'files' as const, is_watched: false, reason: 'The engine is down.' }] };
    expect(answerOf([], blind).tone).toBe('unknown');
  });
});
