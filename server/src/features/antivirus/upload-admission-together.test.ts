import { cancelUpload } from '@palisade/contract/antivirus';
import { eventually } from '@palisade/scanner/test/eventually';
import { noise } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { createRedisCounters } from '#platform/redis-counters.ts';
import { freePort } from '#test/free-port.ts';
import { problemOf, sharedDatabase, startListeningApp } from '#test/harness.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { newUploadKey, openUpload } from '#test/upload.ts';
import { createUploadAdmission } from './upload-admission.ts';

test('files on their way to two servers count together, and one that is done makes room at both', async () => {
  const counters = createMemoryCounters({ now: Date.now });
  const [first, second] = [
    createUploadAdmission({ per_person: 2, all: 3 }, counters),
    createUploadAdmission({ per_person: 2, all: 3 }, counters),
  ];
  const work = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const file = (user_id: string) => ({ user_id, key: undefined });
  const sent = [
    first.during(file('maria'), () => work[0].promise),
    second.during(file('maria'), () => work[1].promise),
    second.during(file('other'), () => work[2].promise),
  ];
  // A turn of the event loop: each of them has been counted by then.
  await new Promise((resolve) => setImmediate(resolve));
  const refused = { code: 'too_many_requests' };
  for (const server of [first, second]) {
    await expect(server.during(file('maria'), () => Promise.resolve())).rejects.toMatchObject({ ...refused, retry_after: 5 });
    await expect(server.during(file('third'), () => Promise.resolve())).rejects.toMatchObject({ ...refused, retry_after: 15 });
  }
  work[0].resolve();
  await sent[0];
  expect(await second.during(file('maria'), () => Promise.resolve('read'))).toBe('read');
  for (const { resolve } of work) resolve();
  await Promise.all(sent);
});

if (REDIS_SERVER === undefined) process.stdout.write('skipped: two servers that take files together need Redis or Valkey\n');

needing('Redis', REDIS_SERVER !== undefined).test(
  'an upload is cancelled at another server than its own, which asks that one, and says so when it does not answer',
  async () => {
    const redis = await startRedis(await freePort());
    onTestFinished(redis.stop);
    const options = {
      environment: { REDIS_URL: redis.url },
      surroundings: { database: await sharedDatabase(), shares_database: true as const },
    };
    const [first, second] = [await startListeningApp(options), await startListeningApp(options)];
    const { token } = await first.signIn();
    const key = newUploadKey();
    const sent = openUpload(first, token, { key });
    await sent.write(noise(100_000));
    const cancelAt = (app: typeof first, as = token) => app.call(cancelUpload, { token: as, params: { key } });
    // Strangers get `not_found`.
    const stranger = await first.signIn();
    await eventually(async () => expect(problemOf(await cancelAt(second, stranger.token)).code).toBe('not_found'));
    expect((await cancelAt(second)).status).toBe(204);
    expect(JSON.parse((await sent.answer).body)).toMatchObject({ code: 'upload_cancelled' });
    expect(problemOf(await cancelAt(second)).code).toBe('not_found');
    expect(problemOf(await cancelAt(first)).code).toBe('not_found');

    // A killed server is asked in vain, until its counts expire.
    const lost = newUploadKey();
    const counters = await createRedisCounters({
      url: redis.url,
      meanwhile: createMemoryCounters({ now: Date.now }),
      logger: pino({ level: 'silent' }),
    });
    onTestFinished(() => counters.close());
    await counters.put(`arrivals:key:${lost}`, { member: 'one', most: 10, window_ms: 60_000 });
    const elsewhere = await second.call(cancelUpload, { token, params: { key: lost } });
    expect([problemOf(elsewhere).code, elsewhere.status, elsewhere.headers.get('retry-after')]).toEqual([
      'on_another_server',
      503,
      '1',
    ]);
  },
);
