import { type HistoryDay, readHistory, simulateThreat } from '@palisade/contract/anti-hacking';
import { readDashboard } from '@palisade/contract/dashboard';
import { lastDays } from '@palisade/contract/day';
import { addRule } from '@palisade/contract/firewall';
import { expect, test } from 'vitest';
import type { Incident } from '#platform/incident.ts';
import { givePremium } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { incidentOf } from '#test/incident-of.ts';

const clock = { now: Date.parse('2026-11-10T10:00:00.000Z') };
const app = await startTestApp({ surroundings: { now: () => clock.now } });
const { call, signIn } = app;
await signIn('boss');

/** A new person with a plan. The clock advances from test to test. */
async function newcomer(time: string) {
  clock.now = Date.parse(time);
  const { id, token, email } = await signIn();
  await givePremium(app.app.database, id);
  let current = token;
  return {
    id,
    token: () => current,
    /** Moves the clock, and signs in again: a session does not last that long. */
    async at(time: string) {
      clock.now = Date.parse(time);
      current = (await signIn(email.split('@')[0])).token;
    },
    look: async () => replyOf(await call(readDashboard, { token: current })).security_score,
    history: async (query = '') => replyOf(await call(readHistory, { token: current, query })),
  };
}

/** A finding about a person, of a kind that counts as one that was stopped. */
const incident = (user_id: string, at: string, outcome: Incident['outcome'] = 'blocked') =>
  incidentOf(user_id, { at, outcome, key: at, severity: 'low' });

const dayOf = (days: readonly HistoryDay[], day: string) => days.find((one) => one.day === day);
const SSH = { rule_name: 'ssh', direction: 'inbound', action: 'allow', protocol: 'tcp', port: '22' } as const;

test('takes 7 to 365 days, and a time zone', async () => {
  const person = await newcomer('2026-11-10T10:00:00.000Z');
  const token = person.token();
  for (const query of ['?days=6', '?days=366', '?days=7.5', '?days=x', '?time_zone=']) {
    expect(problemOf(await call(readHistory, { token, query })), query).toMatchObject({ status: 422 });
  }
  expect(await person.history('?days=7')).toHaveLength(7);
  expect(await person.history('?days=7&time_zone=Etc/Unknown')).toEqual(await person.history('?days=7&time_zone=UTC'));
  expect(await person.history()).toHaveLength(30);
  const year = await person.history('?days=365&time_zone=Europe/Berlin');
  expect(year).toHaveLength(365);
  expect([year[0]?.day, year.at(-1)?.day]).toEqual(['2025-11-11', '2026-11-10']);
});

test('answers the last score of each day with a look, and no other day', async () => {
  const person = await newcomer('2026-11-10T10:00:00.000Z');
  expect(await person.look()).toBe(100);
  await call(addRule, { token: person.token(), body: SSH });
  expect(await person.look()).toBe(92);
  await person.at('2026-11-11T09:00:00.000Z');
  expect(await person.look()).toBe(92);
  await person.at('2026-11-14T08:00:00.000Z');
  const days = await person.history('?days=7');
  expect(days.map(({ day, score }) => [day, score])).toEqual([
    ['2026-11-08', null],
    ['2026-11-09', null],
    ['2026-11-10', 92],
    ['2026-11-11', 92],
    ['2026-11-12', null],
    ['2026-11-13', null],
    // The day after the first, a missing second factor counts.
    ['2026-11-14', 82],
  ]);
});

test('counts days by the clock of the person who looks', async () => {
  const person = await newcomer('2026-11-20T10:00:00.000Z');
  // In Auckland 23:00 on the 20th, and 12:30 on the 21st.
  expect(await person.look()).toBe(100);
  await person.at('2026-11-20T23:30:00.000Z');
  expect(await person.look()).toBe(100);
  await person.at('2026-11-22T12:00:00.000Z');
  const scores = async (time_zone: string) => {
    const days = await person.history(`?days=7&time_zone=${time_zone}`);
    return ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23'].map((day) => dayOf(days, day)?.score);
  };
  expect(await scores('UTC')).toEqual([100, null, 90, undefined]);
  expect(await scores('Pacific/Auckland')).toEqual([100, 100, null, 90]);
  expect(await scores('America/Los_Angeles')).toEqual([100, null, 90, undefined]);
});

test('writes at most once in a quarter of an hour, unless the score changes', async () => {
  const person = await newcomer('2026-11-25T10:00:00.000Z');
  const rows = async () => {
    await app.app.keepScores();
    return await app.app.database
      .selectFrom('score_history')
      .select(['since', 'until', 'score'])
      .where('user_id', '=', person.id)
      .orderBy('since')
      .execute();
  };
  const since = '2026-11-25T10:00:00.000Z';
  await person.look();
  clock.now += 14 * 60_000;
  await person.look();
  expect(await rows()).toEqual([{ since, until: since, score: 100 }]);
  clock.now += 60_000;
  await Promise.all([person.look(), person.look(), person.look()]);
  const until = '2026-11-25T10:15:00.000Z';
  expect(await rows()).toEqual([{ since, until, score: 100 }]);
  clock.now += 1_000;
  await call(addRule, { token: person.token(), body: SSH });
  await person.look();
  const changed = '2026-11-25T10:15:01.000Z';
  expect(await rows()).toEqual([
    { since, until, score: 100 },
    { since: changed, until: changed, score: 92 },
  ]);
});

test('counts real threats, and the blocked ones of them, by the day they were first seen on; drills apart', async () => {
  const person = await newcomer('2026-12-01T10:00:00.000Z');
  const { alerts } = app.app;
  // In Kathmandu 23:55 on the 1st, and 00:05 on the 2nd.
  await alerts.raise(incident(person.id, '2026-12-01T18:10:00.000Z'));
  await alerts.raise(incident(person.id, '2026-12-01T18:20:00.000Z', 'allowed'));
  await alerts.raise(incident(person.id, '2026-12-03T08:00:00.000Z'));
  // A harmless test file is no threat.
  await alerts.raise({ ...incident(person.id, '2026-12-03T09:00:00.000Z'), threat_type: 'malware_detected' });
  await person.at('2026-12-04T10:00:00.000Z');
  replyOf(await call(simulateThreat, { token: person.token() }));
  const counts = async (time_zone: string) => {
    const days = await person.history(`?days=7&time_zone=${time_zone}`);
    return days.slice(-4).map(({ threats, blocked, simulated }) => [threats, blocked, simulated]);
  };
  expect(await counts('UTC')).toEqual([
    [2, 1, 0],
    [0, 0, 0],
    [1, 1, 0],
    [0, 0, 1],
  ]);
  expect(await counts('Asia/Kathmandu')).toEqual([
    [1, 1, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 0, 1],
  ]);
  const other = await newcomer('2026-12-04T10:00:00.000Z');
  expect((await other.history()).every(({ threats, simulated }) => threats + simulated === 0)).toBe(true);
});

test.each([
  ['Europe/Berlin', '2026-10-26T12:00:00.000Z', ['2026-10-23T22:00', '2026-10-24T22:00', '2026-10-25T23:00']],
  ['Europe/Berlin', '2026-03-30T12:00:00.000Z', ['2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00']],
  ['Africa/Cairo', '2026-04-25T12:00:00.000Z', ['2026-04-22T22:00', '2026-04-23T22:00', '2026-04-24T21:00']],
  ['Asia/Kathmandu', '2026-11-10T18:20:00.000Z', ['2026-11-08T18:15', '2026-11-09T18:15', '2026-11-10T18:15']],
])('in %s the days before %s begin when the clocks there say so', (time_zone, now, starts) => {
  expect(lastDays(Date.parse(now), time_zone, 3).map(({ start }) => start.slice(0, 16))).toEqual(starts);
});
