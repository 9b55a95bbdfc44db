import { PENDING_LIFETIME } from '@palisade/contract/remote';
import { expect, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { createLog } from '#platform/log.ts';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { queuedJobs } from '#test/queued-jobs.ts';
import { createRemote } from './remote.ts';

test('a look is planned with the session: one that is too early is put off, a later one ends it, whichever server looks', async () => {
  const database = await featureDatabase();
  const clock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const jobs = queuedJobs({ database, logger: createLog('silent') });
  const nothing = () => {};
  const remote = createRemote({
    ...{ database, jobs, now: () => clock.now, counters: createMemoryCounters({ now: () => clock.now }) },
    audit: { record: async () => {} },
    people: { findUser: async () => undefined, staffSince: async () => null, provider: async () => 'Palisade' },
    ...{ onLive: nothing, onChange: nothing, onGrants: nothing, findDevice: async () => undefined, isHere: () => false },
  });
  const id = await addPerson(database, { username: 'maria' });
  const session = await remote.create({ id, username: 'maria', email: 'maria@example.com', role: 'customer' });
  const planned = await database.selectFrom('jobs').select(['kind', 'once']).execute();
  expect(planned).toEqual([{ kind: 'remote_due', once: session.id }]);
  const look = (session_id: string) => jobs.run('remote_due', { session_id });
  await expect(look(session.id)).rejects.toMatchObject({ wait_ms: PENDING_LIFETIME });
  expect(await remote.find(session.id)).toMatchObject({ status: 'pending' });
  clock.now += PENDING_LIFETIME;
  await look(session.id);
  const stored = database.selectFrom('remote_sessions').select(['status', 'end_reason']).where('id', '=', session.id);
  expect(await stored.execute()).toEqual([{ status: 'cancelled', end_reason: 'expired' }]);
  // A session that is gone with its customer’s account has no more looks.
  await database.deleteFrom('users').where('id', '=', id).execute();
  await look(session.id);
});
