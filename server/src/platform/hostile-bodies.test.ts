import { generateKeyPairSync } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { enrolDevice } from '@palisade/contract/agent';
import { JSON_BODY_MAXIMUM } from '@palisade/contract/constants';
import { createEnrolmentCode } from '@palisade/contract/devices';
import { problemSchema } from '@palisade/contract/problem';
import { phrasedProblemSchema } from '@palisade/contract/problem-phrase';
import { describe, expect, test } from 'vitest';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { createLog } from './log.ts';

const { url, signIn, call } = await startListeningApp();

/** The most bytes of JSON in a refusal: its sentence, the phrase that says it, and its faults. */
const REFUSAL_BYTES = 4 * 1024;

async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await answer.text();
  const { code, detail, phrase, errors = [] } = phrasedProblemSchema.parse(JSON.parse(text));
  return { status: answer.status, code, detail, errors, bytes: Buffer.byteLength(JSON.stringify({ detail, phrase, errors })) };
}

async function enrolled() {
  const { token } = await signIn();
  const { code } = replyOf(await call(createEnrolmentCode, { token }));
  const os = { platform: 'linux', name: 'Debian', arch: 'x64' } as const;
  const { publicKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const body = { code, hostname: 'pc', os, public_key, agent_version: '1' };
  return replyOf(await call(enrolDevice, { body }));
}

const hello = (device: { device_id: string; token: string }) => ({
  ...{ kind: 'hello', device_id: device.device_id, token: device.token, instance: '0'.repeat(32), agent_version: '1' },
  ...{ applied_rev: 0, ruleset_hash: null, at: new Date().toISOString() },
  capabilities: {
    ...{ firewall: 'unavailable', firewall_reason: 'none', conntrack: false, scanner: false, scanner_reason: null },
    ...{ watch: false, containers: false },
  },
});
const NOBODY = { device_id: '01890a5d-ac96-774b-bcce-b302099a8057', token: '0'.repeat(64) };
const manyEmpty = (count: number) => `[${Array.from({ length: count }, () => '{}').join(',')}]`;

describe('a body of a device', () => {
  const AGENT_CALLS = ['poll', 'verify', 'signatures', 'leave'];

  test.each(AGENT_CALLS)('is not looked into without a token: POST /agent/%s', async (name) => {
    const refused = await post(`/agent/${name}`, `{"said":${manyEmpty(75_000)}}`);
    expect(refused).toMatchObject({ status: 401, code: 'device_revoked', errors: [] });
  });

  test.each(AGENT_CALLS)('is not looked into with the token of no device: POST /agent/%s', async (name) => {
    const body = `{"hello":{"device_id":"${NOBODY.device_id}","token":"${NOBODY.token}"},"said":${manyEmpty(70_000)}}`;
    expect(await post(`/agent/${name}`, body)).toMatchObject({ status: 401, code: 'device_revoked', errors: [] });
  });

  test('is refused before it was received when the header has the token of no device', async () => {
    const headers = { authorization: `Bearer ${NOBODY.token}`, 'x-device-id': NOBODY.device_id };
    expect(await post('/agent/poll', 'no JSON at all', headers)).toMatchObject({ status: 401, code: 'device_revoked' });
  });

  test('is read where the token stands in the headers or in the body', async () => {
    const device = await enrolled();
    const body = JSON.stringify({ device_id: device.device_id, token: device.token, nonce: '0'.repeat(32) });
    // The first is of agents of the version before, the last of a proxy that passes no header that it does not know.
    const authorization = `Bearer ${device.token}`;
    for (const headers of [{}, { authorization, 'x-device-id': device.device_id }, { authorization }]) {
      const answer = await fetch(`${url}/api/agent/verify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      expect(answer.status).toBe(200);
    }
  });

  test('with 12,000 empty frames is answered with the allowed length, and not with each fault', async () => {
    const device = await enrolled();
    const refused = await post('/agent/poll', `{"hello":${JSON.stringify(hello(device))},"said":${manyEmpty(12_000)}}`);
    expect(refused).toMatchObject({ status: 422, code: 'invalid_field' });
    expect(refused.errors.length).toBeLessThanOrEqual(10);
    expect(refused.bytes).toBeLessThanOrEqual(REFUSAL_BYTES);
  });
});

describe('the faults of a body', () => {
  test('are named up to ten, in at most 4 KiB', async () => {
    const { token } = await signIn();
    const bearer = { authorization: `Bearer ${token}` };
    const name = 'n'.repeat(2_000);
    const bodies = [
      ['/firewall/import', `{"rules":${manyEmpty(900)},"mode":"add"}`],
      [
        '/firewall/rules',
        JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${name.slice(0, 800)}${at}`, 1]))),
      ],
      [
        '/chat/messages',
        JSON.stringify({ message: 'x', sender: 'user', attachment_ids: Array.from({ length: 100 }, () => name) }),
      ],
      ['/auth/login', JSON.stringify({ email: name.repeat(100), password: '' })],
    ] as const;
    for (const [path, body] of bodies) {
      const refused = await post(path, body, bearer);
      expect(refused).toMatchObject({ status: 422 });
      expect(refused.errors.length).toBeGreaterThan(0);
      expect(refused.errors.length).toBeLessThanOrEqual(10);
      expect(refused.bytes).toBeLessThanOrEqual(REFUSAL_BYTES);
    }
  });

  test('are named by their fields where there are few', async () => {
    const { errors } = await post('/auth/login', '{"email":1,"password":""}');
    expect(errors.map(({ field }) => field)).toEqual(['email', 'password']);
  });

  test.each([
    ['brackets', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
  ])('that is nested too deeply is one fault of its form: %s', async (_what, body) => {
    expect(await post('/auth/login', body)).toMatchObject({ status: 400, code: 'malformed', errors: [] });
  });

  test('that holds more values than any body has is one fault of its form', async () => {
    expect(await post('/auth/login', `{"email":[${'1,'.repeat(60_000)}1]}`)).toMatchObject({ status: 400, code: 'malformed' });
  });

  test.each([
    ['no UTF-8', [0xff, 0xfe]],
    ['too long a form of NUL', [0xc0, 0x80]],
    ['half a character of UTF-16', [0xed, 0xa0, 0x80]],
    ['a character that is cut off', [0xf0, 0x9f]],
  ])('bytes that are no text are one fault of its form, and are not kept as others: %s', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from('{"email":"'), Buffer.from(bytes), Buffer.from('@example.com","password":"x"}')]);
    expect(await post('/auth/login', body)).toMatchObject({ status: 400, code: 'malformed', errors: [] });
  });

  test('brackets in a text are text', async () => {
    const body = JSON.stringify({ email: `a"\\${'['.repeat(100)}`, password: '[{,'.repeat(30) });
    expect(await post('/auth/login', body)).toMatchObject({ status: 422 });
  });
});

describe('a body over the limit', () => {
  const { port, hostname } = new URL(url);

  /** Sends all of a body before it reads anything, as most programs do. */
  function sendAll(
    bytes: number,
    isChunked: boolean,
  ): Promise<{ status: number | undefined; connection: string | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      const length = isChunked ? {} : { 'content-length': String(bytes) };
      const sent = httpRequest(
        {
          port,
          host: hostname,
          path: '/api/auth/login',
          method: 'POST',
          headers: { 'content-type': 'application/json', ...length },
          agent: false,
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({
              status: response.statusCode,
              connection: response.headers.connection,
              text: Buffer.concat(parts).toString(),
            }),
          );
        },
      );
      sent.on('error', reject);
      let left = bytes;
      const more = () => {
        const size = Math.min(left, 64 * 1024);
        left -= size;
        if (size === 0) sent.end();
        // Slower than the answer comes.
        else sent.write(Buffer.alloc(size, 0x78), () => setImmediate(more));
      };
      more();
    });
  }

  test.each([
    ['that says its length', false],
    ['in chunks', true],
  ])('is answered 413 so that a program that is still sending reads it: %s', async (_how, isChunked) => {
    const { status, connection, text } = await sendAll(4 * 1024 * 1024, isChunked);
    expect(status).toBe(413);
    expect(connection).toBe('close');
    expect(problemSchema.parse(JSON.parse(text))).toMatchObject({ code: 'too_large' });
  });

  test('is answered at once, and its connection ends when far more comes', async () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const head = `POST /api/auth/login HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n`;
    const heard = new Promise<string>((resolve) => socket.once('data', (part) => resolve(part.toString())));
    socket.write(head);
    expect(await heard).toContain('HTTP/1.1 413');
    const chunk = Buffer.alloc(1024 * 1024, 0x78);
    let sent = 0;
    const pour = () => {
      while (!socket.destroyed && sent < 64 && socket.write(chunk)) sent += 1;
    };
    socket.on('drain', pour);
    pour();
    await ended;
    expect(sent).toBeLessThan(64);
  });

  test('is as large as the limit says', async () => {
    const body = JSON.stringify({ email: 'x'.repeat(JSON_BODY_MAXIMUM - 30), password: '' });
    expect(await post('/auth/login', body)).toMatchObject({ status: 422 });
  });
});

describe('log lines of refused calls', async () => {
  const lines: string[] = [];
  const logger = createLog('warn', { write: (line) => void lines.push(line) });
  const { url: logged, signIn: enter } = await startListeningApp({ surroundings: { logger } });

  test('are so many a minute, whatever is asked for', async () => {
    await enter();
    const { token } = await enter('customer', 'customer');
    for (let count = 0; count < 40; count += 1) {
      const answer = await fetch(`${logged}/api/admin/users`, { headers: { authorization: `Bearer ${token}` } });
      expect([403, 429]).toContain(answer.status);
    }
    const refused = lines.filter((line) => /may not do this|refused or out of the ordinary/.test(line));
    expect(refused.length).toBeGreaterThan(5);
    expect(refused.length).toBeLessThanOrEqual(20);
  });
});
