import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listAlerts, readLastCheck, readLiveFeed, readStats, scanPosture, simulateThreat } from '@palisade/contract/anti-hacking';
import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { givePremium } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

/** An installation with a premium customer and a clock that the test turns. */
async function start(surroundings: Parameters<typeof startTestApp>[0] = {}) {
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const app = await startTestApp({ ...surroundings, surroundings: { now: () => clock.now, ...surroundings.surroundings } });
  await app.signIn('boss');
  /** A person with premium tools. */
  const premium = async (name?: string) => {
    const person = await app.signIn(name);
    await givePremium(app.app.database, person.id);
    return person;
  };
  return { ...app, clock, premium, token: (await premium('maria')).token };
}

describe('a drill', async () => {
  const { call, token, premium } = await start({ surroundings: { random: () => 0 } });

  test('is an alert that says that it is one, at the head of list and feed, and counts apart', async () => {
    const { success, threat_detected } = replyOf(await call(simulateThreat, { token }));
    expect(success).toBe(true);
    expect(threat_detected).toMatchObject({
      threat_type: 'brute_force',
      severity: 'medium',
      blocked: true,
      simulated: true,
      ip_address: '192.0.2.1',
      created_at: '2026-11-20T10:00:00.000Z',
    });
    expect(Object.keys(threat_detected)).not.toContain('user_id');
    expect(replyOf(await call(listAlerts, { token }))).toEqual([threat_detected]);
    const feed = replyOf(await call(readLiveFeed, { token }));
    expect(feed.live_threats).toEqual([threat_detected]);
    expect(feed.current_stats).toEqual({
      threats_blocked_today: 0,
      intrusion_attempts_stopped: 0,
      brute_force_attempts_blocked: 0,
      threats_blocked_total: 0,
      simulated_threats_blocked_today: 1,
      simulated_intrusion_attempts_stopped: 0,
      simulated_brute_force_attempts_blocked: 1,
      simulated_threats_blocked_total: 1,
      test_files_blocked_today: 0,
      test_files_blocked_total: 0,
    });
  });

  test('belongs to one person, and of many at once each is one', async () => {
    const zoe = await premium();
    expect(replyOf(await call(listAlerts, { token: zoe.token }))).toEqual([]);
    await Promise.all(Array.from({ length: 25 }, () => call(simulateThreat, { token: zoe.token })));
    expect(replyOf(await call(readStats, { token: zoe.token })).simulated_threats_blocked_total).toBe(25);
    expect(replyOf(await call(readLiveFeed, { token: zoe.token })).live_threats).toHaveLength(20);

    const first = await call(listAlerts, { token: zoe.token, query: '?limit=20' });
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const rest = replyOf(await call(listAlerts, { token: zoe.token, query: next.slice(next.indexOf('?')) }));
    const ids = [...replyOf(first), ...rest].map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(new Set(ids).size).toBe(25);
  });
});

describe('an infected upload', async () => {
  const app = await start();
  const { call, token, clock } = app;

  test('raises one alert that names the action; a clean one raises none', async () => {
    await scanned(app, token, 'paper.pdf', PDF);
    await scanned(app, token, '<b>eicar.com', EICAR);
    const alerts = replyOf(await call(listAlerts, { token }));
    expect(alerts).toMatchObject([
      {
        threat_type: 'malware_detected',
        severity: 'low',
        description: 'We found EICAR-Test-File in <b>eicar.com. This is a harmless test file. Our copy is in quarantine.',
        blocked: true,
        simulated: false,
        ip_address: null,
      },
    ]);
    expect(replyOf(await call(readStats, { token }))).toMatchObject({ threats_blocked_today: 1, threats_blocked_total: 1 });
  });

  test('counts today by the clocks of the person', async () => {
    clock.now = Date.parse('2026-11-20T23:30:00.000Z');
    const today = async (query: string) => replyOf(await call(readStats, { token, query })).threats_blocked_today;
    expect(await today('?time_zone=UTC')).toBe(1);
    expect(await today('?time_zone=Europe/Berlin')).toBe(0);
    expect(await today('?time_zone=America/New_York')).toBe(1);
  });

  test.each(['?time_zone=Nowhere/At_All', '?time_zone=Etc/Unknown'])(
    'of an unknown time zone counts by UTC and says so: %s',
    async (query) => {
      const known = replyOf(await call(readStats, { token, query: '?time_zone=UTC' }));
      expect(known).not.toHaveProperty('time_zone');
      expect(replyOf(await call(readStats, { token, query }))).toEqual({ ...known, time_zone: 'UTC' });
      expect(replyOf(await call(readLiveFeed, { token, query })).current_stats.time_zone).toBe('UTC');
    },
  );

  test.each([`?time_zone=${'x'.repeat(4000)}`, '?time_zone='])('a bad time zone is 422: %.30s', async (query) => {
    for (const endpoint of [readStats, readLiveFeed]) {
      expect(problemOf(await call(endpoint, { token, query }))).toMatchObject({ status: 422, errors: [{ field: 'time_zone' }] });
    }
  });

  test('the test files are those that the rule pack calls infected', () => {
    const rules = readFileSync(join(SIGNATURES_FOLDER, 'rules/industry-test.yar'), 'utf8').split(/^rule /m);
    const infected = rules.filter((text) => text.includes('verdict = "infected"'));
    const threats = infected.map((text) => /threat = "([^"]+)"/.exec(text)?.[1]);
    expect([...new Set(threats)].sort()).toEqual([...TEST_FILE_THREATS].sort());
  });
});

describe('the security check', async () => {
  const app = await start();
  const { call, token } = app;

  const factor = 'Turn on two-factor sign-in, in Security Preferences.';

  test('of a new account finds nothing but the missing second factor, and says how much it could look at', async () => {
    const result = replyOf(await call(scanPosture, { token }));
    expect(result).toMatchObject({ threats_detected: 0, threats_blocked: 0, status: 'issues_found', recommendations: [factor] });
    expect(result.coverage).toMatch(/^\d+ of 33 checks could run\./);
    expect(result.findings.find(({ id }) => id === 'no_two_factor')).toMatchObject({ state: 'fail', deduction: 0 });
  });

  test('keeps its time until the next one, for this person alone', async () => {
    const zoe = await app.premium();
    const result = replyOf(await call(scanPosture, { token }));
    const { last } = replyOf(await call(readLastCheck, { token }));
    expect(last?.result).toEqual(result);
    expect(last?.checked_at).toBe(new Date(app.clock.now).toISOString());
    expect(replyOf(await call(readLastCheck, { token: zoe.token }))).toEqual({ last: null });
  });

  test('tells of harmless test files that were removed, and takes nothing off for them', async () => {
    await scanned(app, token, 'eicar.com', EICAR);
    await scanned(app, token, 'eicar-again.com', EICAR);
    const result = replyOf(await call(scanPosture, { token }));
    expect(result).toMatchObject({ threats_detected: 2, threats_blocked: 2 });
    expect(result.recommendations).toEqual([factor]);
    expect(result.findings.find(({ id }) => id === 'infected_not_removed')).toMatchObject({
      state: 'pass',
      evidence: '2 infected uploads were found and quarantined or deleted.',
    });
    expect(result.findings.find(({ id }) => id === 'infection_open')).toMatchObject({ state: 'pass' });
  });
});

describe('a restart', () => {
  const location = { sqlite: join(mkdtempSync(join(tmpdir(), 'palisade-alerts-')), 'palisade.sqlite') };

  test('raises the alert that a killed server still owed, and no other one twice', async () => {
    const before = await start({ surroundings: { database: location } });
    await scanned(before, before.token, 'owed.com', EICAR);
    await scanned(before, before.token, 'raised.com', EICAR);
    const [newest] = replyOf(await before.call(listAlerts, { token: before.token }));
    await before.app.close();
    const database = new SqliteDatabase(location.sqlite);
    database.prepare("delete from alerts where description like '%owed%'").run();
    database.close();

    const after = await startTestApp({ surroundings: { database: location, now: () => before.clock.now } });
    const { token } = await after.signIn('maria');
    const alerts = replyOf(await after.call(listAlerts, { token }));
    expect(alerts.map(({ description }) => /in (\w+)\.com/.exec(description)?.[1]).sort()).toEqual(['owed', 'raised']);
    expect(alerts.map(({ id }) => id)).toContain(newest?.id);
    for (const { blocked } of alerts) expect(blocked).toBe(true);
  });
});
