import { type Alert, listAlerts } from '@palisade/contract/anti-hacking';
import { cancelUpload, listScans, type Scan } from '@palisade/contract/antivirus';
import { deleteScan } from '@palisade/contract/quarantine';
import { assignSubscription } from '@palisade/contract/subscription';
import { EICAR, noise, zip } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '#platform/database.ts';
import type { Tables } from '#platform/tables.ts';
import { HAS_CLUSTER, NO_CLUSTER, startCluster } from './cluster.ts';
import { callAt, replyOf } from './harness.ts';
import { updateRows } from './rows.ts';
import { enginesOf, type ServerProcess } from './server-process.ts';
import { listenAs } from './socket.ts';
import { newUploadKey, openUpload, upload } from './upload.ts';

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 25 });
/** Too big to be read before it is recorded, with something in it. */
const infected = (seed: number) =>
  zip([
    { name: 'noise', content: noise(200_000, seed) },
    { name: 'eicar.com', content: EICAR },
  ]);

const INFECTED_RULE = 'malware_detected.infected';
/** Number of infected files in alerts. */
const infectionsIn = (alerts: readonly Alert[]) =>
  alerts.filter(({ rule }) => rule === INFECTED_RULE).reduce((sum, { count }) => sum + count, 0);

if (!HAS_CLUSTER) process.stdout.write(`skipped: files of a server that died: ${NO_CLUSTER}\n`);

// Each starts two servers.
needing('PostgreSQL, an S3 server and Redis', HAS_CLUSTER).describe(
  'two servers that share a database, a store and a Redis',
  { timeout: 180_000 },
  () => {
    async function startTwo(more: Record<string, string> = {}) {
      const cluster = await startCluster();
      const one = await cluster.start(more);
      const other = await cluster.start(more);
      const token = await one.signIn('boss');
      const plan = { plan_name: 'All', price: 1, duration_months: 12, max_devices: 1, is_premium: true, features: [] };
      replyOf(await callAt(one, assignSubscription, { token, body: { user_email: 'boss@example.com', ...plan } }));
      const database = openDatabase<Tables>({ postgres: cluster.settings.DATABASE_URL });
      onTestFinished(() => database.destroy());
      for (const server of [one, other])
        await soon(async () => expect((await fetch(`${server.url}/api/ready`)).status).toBe(200));
      const jobs = () => database.selectFrom('jobs').selectAll().where('kind', '=', 'scan').execute();
      const rowOf = (filename: string) =>
        database.selectFrom('scans').selectAll().where('filename', '=', filename).executeTakeFirstOrThrow();
      return {
        ...{ one, other, token, database, jobs, rowOf },
        /** Has the engines of a server stop where they are, also those that start as files come. */
        stopEngines(server: ServerProcess) {
          const stopping = setInterval(() => {
            for (const pid of enginesOf(server.pid)) process.kill(pid, 'SIGSTOP');
          }, 20);
          const letGo = (signal: NodeJS.Signals) => {
            clearInterval(stopping);
            for (const pid of enginesOf(server.pid)) process.kill(pid, signal);
          };
          onTestFinished(() => clearInterval(stopping));
          return letGo;
        },
        /** A minute in which nothing was heard of who has a file. */
        async loseLeases() {
          await updateRows(database, 'jobs', { kind: 'scan' }, { lease_until: '2020-01-01T00:00:00.000Z' });
        },
        scans: async (server: ServerProcess): Promise<Scan[]> => replyOf(await callAt(server, listScans, { token })),
        alerts: async (server: ServerProcess) => replyOf(await callAt(server, listAlerts, { token })),
      };
    }

    test('a file of a killed server gets its verdict from the other, once, and its page receives it', async () => {
      const { one, other, token, jobs, stopEngines, loseLeases, scans, alerts, rowOf, database } = await startTwo();
      const kill = stopEngines(one);
      const names = ['first.zip', 'second.zip', 'third.zip'];
      const unanswered = Promise.allSettled(
        names.map((name, index) => upload(one, token, { name, content: infected(index + 1) })),
      );
      const held = await soon(async () => {
        const all = await jobs();
        expect(all).toHaveLength(3);
        return all;
      });
      // The lease comes with the record, and is for a minute.
      const lease_ms = held.map(({ lease_until, created_at }) => Date.parse(lease_until ?? '') - Date.parse(created_at));
      for (const ms of lease_ms) expect(ms).toBeGreaterThan(59_000);
      for (const ms of lease_ms) expect(ms).toBeLessThanOrEqual(61_000 + 20_000);
      expect(new Set(held.map(({ claimed_by }) => claimed_by)).size).toBe(1);
      const page = await listenAs(other, token);
      expect((await scans(other)).map(({ scan_status }) => scan_status)).toEqual(['pending', 'pending', 'pending']);

      kill('SIGKILL');
      await one.kill('SIGKILL');
      await unanswered;
      // No server takes them before the lease is over.
      expect((await jobs()).map(({ claims }) => claims)).toEqual([1, 1, 1]);
      await loseLeases();
      await soon(async () => expect((await scans(other)).every(({ scan_status }) => scan_status === 'infected')).toBe(true));
      for (const name of names) {
        await page.event(
          (event) => event.kind === 'scan_changed' && event.scan.filename === name && event.scan.scan_status === 'infected',
        );
        expect(await rowOf(name)).toMatchObject({
          sealed: 1,
          spooled: 0,
          in_store: 1,
          threat_member: 'eicar.com',
          unended_readings: 0,
        });
      }
      await soon(async () => expect(await jobs()).toEqual([]));
      const told = await soon(async () => {
        const found = await alerts(other);
        expect(infectionsIn(found)).toBe(3);
        return found;
      });
      expect(told.every(({ blocked }) => blocked)).toBe(true);
      expect(await database.selectFrom('scans').select('id').execute()).toHaveLength(3);
    });

    test('a stopping server gives its running file to the other at once', async () => {
      // Its page waits for an answer that does not come.
      const { one, other, token, jobs, stopEngines, scans } = await startTwo({ STOP_DRAIN: '6' });
      const letGo = stopEngines(one);
      const unanswered = upload(one, token, { name: 'stopped.zip', content: infected(7) }).catch(() => {});
      await soon(async () => expect(await jobs()).toHaveLength(1));
      const stopping = one.kill('SIGTERM');
      await soon(async () => expect((await scans(other)).map(({ scan_status }) => scan_status)).toEqual(['infected']));
      letGo('SIGKILL');
      await unanswered;
      expect(await stopping).toBe(0);
      await soon(async () => expect(await jobs()).toEqual([]));
    });

    test('a server that stood still while another read its file reports nothing afterwards', async () => {
      const { one, other, token, jobs, stopEngines, loseLeases, scans, alerts, rowOf } = await startTwo();
      const letGo = stopEngines(one);
      const answer = upload(one, token, { name: 'frozen.zip', content: infected(9) });
      await soon(async () => expect(await jobs()).toHaveLength(1));
      process.kill(one.pid, 'SIGSTOP');
      await loseLeases();
      await soon(async () => expect((await scans(other)).map(({ scan_status }) => scan_status)).toEqual(['infected']));
      await soon(async () => expect(await jobs()).toEqual([]));
      const before = await rowOf('frozen.zip');
      process.kill(one.pid, 'SIGCONT');
      letGo('SIGCONT');
      // Its sender receives the finding of the other server.
      expect(replyOf(await answer)).toMatchObject({ scan_status: 'infected', threat_member: 'eicar.com' });
      expect(await rowOf('frozen.zip')).toEqual(before);
      expect(infectionsIn(await alerts(other))).toBe(1);
    });

    test('a file that is read at one is deleted, and an upload to one is cancelled, at the other', async () => {
      const { one, other, token, jobs, stopEngines, scans } = await startTwo();
      const letGo = stopEngines(one);
      const answer = upload(one, token, { name: 'deleted.zip', content: infected(11) });
      await soon(async () => expect(await jobs()).toHaveLength(1));
      const [scan] = await scans(other);
      expect((await callAt(other, deleteScan, { token, params: { id: scan?.id ?? '' } })).status).toBe(204);
      expect(await scans(one)).toEqual([]);
      const gone = await answer;
      expect(gone.ok ? gone.status : gone.problem.code).toBe('upload_cancelled');
      await soon(async () => expect(await jobs()).toEqual([]));
      letGo('SIGCONT');

      const key = newUploadKey();
      const sent = openUpload(one, token, { key });
      await sent.write(noise(100_000));
      await soon(async () => expect((await callAt(other, cancelUpload, { token, params: { key } })).status).toBe(204));
      expect(JSON.parse((await sent.answer).body)).toMatchObject({ code: 'upload_cancelled' });
      expect(await scans(other)).toEqual([]);
    });
  },
);
