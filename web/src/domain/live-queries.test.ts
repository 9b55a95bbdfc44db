import { listScans } from '@palisade/contract/antivirus';
import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it, vi } from 'vitest';
import { eachListens, LATER } from '#api/fake-listening.ts';
import { scanOf } from '#api/fake-records.ts';
import { reply } from '#api/fake-server.ts';
import { dashboardQuery } from './dashboard/dashboard.ts';
import { followEvents } from './live-queries.ts';
import { EVERY_SCAN, scansQuery } from './scan/scans.ts';

/** Advances the clock of the tests where there is one. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });

const historyQuery = scansQuery(EVERY_SCAN);
const page = eachListens();
const { latest, welcome } = page;

describe('queries of the screens', () => {
  it.each([
    ['alerts_changed', { kind: 'alerts_changed' }, ['anti-hacking', 'alerts']],
    ['changed', { kind: 'changed', topic: 'rules' }, ['firewall', 'rules']],
    ['changed', { kind: 'changed', topic: 'account' }, ['overview']],
  ] as const)('has the dashboard, and what else shows it, read anew: %s', (_, event, queryKey) => {
    const queries = new QueryClient();
    const unfollow = followEvents(queries);
    for (const key of [dashboardQuery.queryKey, queryKey, ['engine']]) queries.setQueryData(key, {});
    welcome().say({ kind: 'event', id: LATER, event });
    const isOld = (key: readonly string[]) => queries.getQueryState(key)?.isInvalidated;
    expect([isOld(dashboardQuery.queryKey), isOld(queryKey), isOld(['engine'])]).toEqual([true, true, false]);
    unfollow();
  });

  it.each([
    ['waiting', ['overview']],
    ['waiting', ['subscription', 'all-requests']],
    ['people', ['users', {}]],
    ['plans', ['subscription', 'plans']],
  ] as const)(
    'has what shows a change of the installation read anew, and not the dashboard of everybody: %s',
    (topic, queryKey) => {
      const queries = new QueryClient();
      const unfollow = followEvents(queries);
      for (const key of [dashboardQuery.queryKey, queryKey]) queries.setQueryData(key, {});
      welcome().say({ kind: 'event', id: LATER, event: { kind: 'changed', topic } });
      const isOld = (key: readonly unknown[]) => queries.getQueryState(key)?.isInvalidated;
      expect([isOld(dashboardQuery.queryKey), isOld(queryKey)]).toEqual([false, true]);
      unfollow();
    },
  );

  it('follows the events', async () => {
    const queries = new QueryClient();
    const unfollow = followEvents(queries);
    const [older, newer] = [scanOf({ filename: 'older.txt', scan_status: 'pending' }), scanOf({ filename: 'newer.txt' })];
    const list = Promise.withResolvers<void>();
    page.server.on(listScans, async () => {
      await list.promise;
      return reply(listScans, [older]);
    });
    const read = queries.fetchInfiniteQuery(historyQuery);
    const names = () =>
      queries
        .getQueryData(historyQuery.queryKey)
        ?.pages.flatMap(({ rows }) => rows)
        .map(({ filename, scan_status }) => [filename, scan_status]);
    const socket = welcome();
    // While the list is on its way, which does not know of it yet.
    socket.say({ kind: 'event', id: LATER, event: { kind: 'scan_changed', scan: newer } });
    list.resolve();
    await read;
    await soon(() =>
      expect(names()).toEqual([
        ['newer.txt', 'clean'],
        ['older.txt', 'pending'],
      ]),
    );
    socket.say({ kind: 'event', id: LATER, event: { kind: 'scan_changed', scan: { ...older, scan_status: 'infected' } } });
    await soon(() => expect(names()?.at(-1)).toEqual(['older.txt', 'infected']));
    socket.say({ kind: 'event', id: LATER, event: { kind: 'scan_removed', scan_id: newer.id } });
    await soon(() => expect(names()).toEqual([['older.txt', 'infected']]));
    unfollow();
  });

  // proves: product-3.1-3
  it('is old after a gap', () => {
    const queries = new QueryClient();
    const unfollow = followEvents(queries);
    queries.setQueryData(historyQuery.queryKey, { pages: [], pageParams: [] });
    welcome();
    expect(queries.getQueryState(historyQuery.queryKey)?.isInvalidated).toBe(false);
    latest().breakOff();
    vi.advanceTimersByTime(500);
    const calls = page.server.calls.length;
    welcome(true);
    expect(queries.getQueryState(historyQuery.queryKey)?.isInvalidated).toBe(true);
    // Provider and signed-in person, which are no queries, are read anew as well.
    expect(page.server.calls.slice(calls).map(({ path }) => path)).toEqual(['/config', '/auth/me']);
    unfollow();
  });
});
