import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from '@palisade/contract/endpoint';
import type { LiveEvent } from '@palisade/contract/events';
import {
  addProfile,
  answerAsk,
  changeProfile,
  lookAtAskPage,
  mayI,
  type ProfileRules,
  pauseProfile,
  setDeviceProfile,
} from '@palisade/contract/household';
import { addWebDevice, addWebName, readWebProtection, renewWebKey } from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished, vi } from 'vitest';
import { HAS_CLUSTER, NO_CLUSTER, startCluster } from './cluster.ts';
import { callAt, replyOf } from './harness.ts';
import { listenAs } from './socket.ts';

if (!HAS_CLUSTER) process.stdout.write(`skipped: ${NO_CLUSTER}\n`);

const SOON = { timeout: 60_000, interval: 50 };
/** Time in which a change counts on another server, and an ask reaches a guardian's page there, in ms. */
const OTHER_SERVER_MS = 3_000;
const PAGE_MS = 1_000;
/** A question for the address of shop.example. */
const QUESTION = Buffer.from('0000010000010000000000000473686f70076578616d706c650000010001', 'hex');

async function startUpstream(): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]);
    const answer = Buffer.concat([query.subarray(0, QUESTION.length), record]);
    answer.writeUInt32BE(0x81800001, 2);
    answer.writeUInt32BE(0x00010000, 6);
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket.address().port;
}

/** Two servers with one database; calls go to `one`. */
async function startTwo() {
  const { start } = await startCluster();
  const upstream = { DNS_UPSTREAM: `127.0.0.1:${await startUpstream()}` };
  const [one, other] = [await start(upstream), await start(upstream)];
  const token = await one.signIn('boss');
  async function call<E extends Endpoint>(endpoint: E, body?: unknown, id = '') {
    return replyOf(await callAt(one, endpoint, { token, body, params: { id } }));
  }
  /** The code of the answer, or the status of a refusal. */
  async function ask(server: { url: string }, key: string): Promise<string> {
    const headers = { 'content-type': 'application/dns-message' };
    const answer = await fetch(`${server.url}/dns/${key}`, { method: 'POST', headers, body: new Uint8Array(QUESTION) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return answer.ok ? `code ${(bytes[3] ?? 0) & 0xf}` : `status ${answer.status}`;
  }
  return { one, other, token, call, ask };
}

const services = needing('PostgreSQL, an S3 server and Redis', HAS_CLUSTER);

services.test('two servers answer names by the same rules and keys, and count together', { timeout: 180_000 }, async () => {
  const { one, other, call, ask } = await startTwo();
  const { id, key } = await call(addWebDevice, { name: 'Phone', kind: 'android' });
  expect([await ask(one, key), await ask(other, key)]).toEqual(['code 0', 'code 0']);
  await call(addWebName, { name: 'shop.example', verdict: 'block' });
  expect(await ask(one, key)).toBe('code 3');
  const before = { answered: 2 };
  await vi.waitFor(async () => {
    const code = await ask(other, key);
    if (code === 'code 0') before.answered += 1;
    expect(code).toBe('code 3');
  }, SOON);

  const renewed = await call(renewWebKey, undefined, id);
  expect([await ask(one, key), await ask(one, renewed.key), await ask(other, renewed.key)]).toEqual([
    'status 404',
    'code 3',
    'code 3',
  ]);
  await vi.waitFor(async () => expect(await ask(other, key)).toBe('status 404'), SOON);

  // Each writes its own counts, and one row has them all.
  await vi.waitFor(async () => {
    const [device] = (await call(readWebProtection)).devices;
    expect([device?.answered, (device?.refused[0]?.count ?? 0) >= 4]).toEqual([before.answered, true]);
  }, SOON);
});

services.test('two servers follow the guardians of a home, and tell their pages of an ask', { timeout: 180_000 }, async () => {
  const { one, other, token, call, ask } = await startTwo();
  const body = { name: 'Mia', picture: 'fox', age_group: 'child', time_zone: 'Europe/Vienna' };
  const { id: profile, ask_key } = await call(addProfile, body);
  const { id: device, key } = await call(addWebDevice, { name: 'Tablet', kind: 'android' });
  const bedtime: ProfileRules['times'][number] = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00', refuses: 'all' };
  const withTimes = (times: ProfileRules['times']) => ({ rules: { categories: [], services: [], safe_search: 'off', times } });
  await call(changeProfile, withTimes([bedtime]), profile);
  expect([await ask(one, key), await ask(other, key)]).toEqual(['code 0', 'code 0']);

  /** A change at `one` counts there in the next answer, and at `other` in time: the last answer by earlier rules was asked for before. */
  async function counts<Result>(change: () => Promise<Result>, code: string): Promise<Result> {
    const result = await change();
    const changed_at = performance.now();
    expect(await ask(one, key)).toBe(code);
    for (;;) {
      const asked_ms = performance.now() - changed_at;
      if ((await ask(other, key)) === code) return result;
      expect(asked_ms).toBeLessThan(OTHER_SERVER_MS);
      await sleep(SOON.interval);
    }
  }
  await counts(() => call(setDeviceProfile, { profile_id: profile }, device), 'code 3');
  await counts(() => call(changeProfile, withTimes([]), profile), 'code 0');
  await counts(() => call(changeProfile, withTimes([bedtime]), profile), 'code 3');

  const refusal = await eventually(async () => {
    const [first] = (await call(lookAtAskPage, { key: ask_key })).refused;
    if (first === undefined) throw new Error('not written');
    return first;
  });
  // The guardian's page is at the other server.
  const isOfHome = (event: LiveEvent) => event.kind === 'changed' && event.topic === 'devices';
  const took: number[] = [];
  for (let press = 1; press <= 5; press += 1) {
    const page = await listenAs(other, token);
    const pressed_at = performance.now();
    const { asks } = await call(mayI, { key: ask_key, refusal_id: refusal.id });
    await page.event(isOfHome);
    took.push(performance.now() - pressed_at);
    expect(asks).toMatchObject([{ name: 'shop.example', count: press, answer: 'wait' }]);
    page.leave();
  }
  expect(took.toSorted((few, many) => few - many)[2]).toBeLessThan(PAGE_MS);

  const [{ id: asked = '' } = {}] = (await call(lookAtAskPage, { key: ask_key })).asks;
  await counts(() => call(answerAsk, { answer: 'hour' }, asked), 'code 0');
  await counts(() => call(pauseProfile, { pause: '15' }, profile), 'code 3');
  await counts(() => call(pauseProfile, { pause: 'end' }, profile), 'code 0');
  await counts(() => call(answerAsk, { answer: 'no' }, asked), 'code 3');
});
