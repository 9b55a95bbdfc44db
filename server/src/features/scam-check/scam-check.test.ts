import { generateKeyPairSync } from 'node:crypto';
import { listAlerts } from '@palisade/contract/anti-hacking';
import { shareThing } from '@palisade/contract/chat';
import { readShared } from '@palisade/contract/desk';
import { exportData } from '@palisade/contract/privacy';
import {
  addProviderDomain,
  checkScamFile,
  checkScamText,
  deleteScamCheck,
  distrustDomain,
  listProviderDomains,
  listScamChecks,
  listTrustedDomains,
  removeProviderDomain,
  SCAM_FILE_MAXIMUM,
  trustDomain,
} from '@palisade/contract/scam-check';
import { EICAR } from '@palisade/scanner/test/files';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { givePremium } from '#test/feature-database.ts';
import { COUNTED_IN_MEMORY, readAnswer, replyOf, startTestApp, type TestApp } from '#test/harness.ts';

const SCAM = 'Your PayPal account is limited. Confirm your details at https://paypa1-secure.com/login within 24 hours.';
const ORDINARY = 'See you at eight, I have the tickets.';
/** A QR code of https://paypa1-secure.com/login, in black and white. */
const QR_CODE = [
  'iVBORw0KGgoAAAANSUhEUgAAAFcAAABXAQAAAABZs+TBAAAA40lEQVR42q3TsY3EIBAF0G85IKSBkWhjM1qCBuCuAW9LZLSB5AbuMoKR52Sf5cjDBrtEL5uZ',
  '/wXkehveMQPut7sfIOnO4qRzFB44GPflEQsNTbbwSydPY2dx30LXDrcGKFYK5y23PhLw85XJndn2eQFyGRmPBr9umHXLZhBLi70l1Tz1ZoWnzrrl2WHrf+aa',
  'OZeW/Lrso1XHTpMgYZ+rusjiGQ8aOPh5Q4Nxm2qRfauWq+jee0meYz27u3U+ys31uEVxMG4BYOYX9pikpaGlr89OA2eh4CkYHhggW88eFX/oL/8B6hBDW72h',
  'EskAAAAASUVORK5CYII=',
].join('');

async function sendFile(app: TestApp, token: string, file: { name: string; content: Buffer }, query = '') {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(file.content)]), file.name);
  const headers = { authorization: `Bearer ${token}` };
  return await readAnswer(checkScamFile, await app.fetch(`/api/scam-check${query}`, { method: 'POST', body: form, headers }));
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const DKIM_KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;

/** While it is set, the time of the server stands still. */
let stopped: number | undefined;
const app = await startTestApp({
  environment: COUNTED_IN_MEMORY,
  surroundings: { mail_zone: { 'TXT s._domainkey.example.com': [[DKIM_KEY]] }, now: () => stopped ?? Date.now() },
});
const { call } = app;

describe('a check', () => {
  test('of a scam says why, and keeps nothing unless asked', async () => {
    const { token } = await app.signIn();
    const { id, verdict, reasons, parts } = replyOf(await call(checkScamText, { token, body: { text: SCAM } }));
    expect({ id, verdict }).toEqual({ id: null, verdict: 'dangerous' });
    expect(reasons.map(({ code }) => code)).toContain('brand_in_address');
    expect(parts.links).toMatchObject([{ owner: 'paypa1-secure.com', imitates: 'PayPal' }]);
    expect(replyOf(await call(listScamChecks, { token }))).toEqual([]);
  });

  test('of an email asks the engines about its attachments', async () => {
    const { token } = await app.signIn();
    const content = Buffer.from(
      [
        'From: Ada <ada@example.org>',
        'To: <me@example.net>',
        'Subject: The invoice',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain',
        '',
        'Here it is.',
        '--b',
        'Content-Type: application/octet-stream; name=invoice.bin',
        'Content-Disposition: attachment; filename=invoice.bin',
        'Content-Transfer-Encoding: base64',
        '',
        EICAR.toString('base64'),
        '--b--',
        '',
      ].join('\r\n'),
    );
    const { kind, reasons, checked } = replyOf(await sendFile(app, token, { name: 'letter.eml', content }));
    expect(kind).toBe('email');
    expect(reasons.map(({ code }) => code)).toContain('infected_attachment');
    expect(checked.find(({ part }) => part === 'attachments')?.state).toBe('checked');
  });

  test('of a signed email asks the DNS where its person allows it, and only then', async () => {
    const { token } = await app.signIn();
    const mail = 'From: Ada <ada@example.com>\r\nTo: <me@example.net>\r\nSubject: Hello\r\n\r\nSee you at eight.\r\n';
    const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = { signingDomain: 'example.com', selector: 's', privateKey: privateKeyPem };
    const { signatures } = await dkimSign(mail, { canonicalization: 'relaxed/relaxed', ...key, signatureData: [key] });
    const file = { name: 'a.eml', content: Buffer.from(signatures + mail) };
    const silent = replyOf(await sendFile(app, token, file));
    expect(silent.parts.sender?.proof).toBe('not_checked');
    expect(silent.checked.find(({ part }) => part === 'signature')).toMatchObject({ code: 'no_dns' });
    expect(replyOf(await sendFile(app, token, file, '?ask_dns=true')).parts.sender?.proof).toBe('proven');
  });

  test('refuses nothing, too much, and a file in another field', async () => {
    const { token } = await app.signIn();
    expect(await call(checkScamText, { token, body: { text: '  ' } })).toMatchObject({ status: 422 });
    expect(await call(checkScamText, { token, body: { text: 'a'.repeat(20_001) } })).toMatchObject({ status: 422 });
    expect(await sendFile(app, token, { name: 'a.txt', content: Buffer.alloc(0) })).toMatchObject({ status: 422 });
    const large = { name: 'a.bin', content: Buffer.alloc(SCAM_FILE_MAXIMUM + 1) };
    expect(await sendFile(app, token, large)).toMatchObject({ status: 413 });
  });

  test('is made 30 times a minute by one person, and by the next one still', async () => {
    const { token } = await app.signIn();
    // One more may be made every two seconds.
    stopped = Date.now();
    onTestFinished(() => {
      stopped = undefined;
    });
    for (let made = 0; made < 30; made += 1)
      expect((await call(checkScamText, { token, body: { text: ORDINARY } })).status).toBe(200);
    const refused = await call(checkScamText, { token, body: { text: ORDINARY } });
    expect(refused).toMatchObject({ status: 429, problem: { code: 'too_many_requests' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = await app.signIn();
    expect((await call(checkScamText, { token: other.token, body: { text: ORDINARY } })).status).toBe(200);
  });
});

describe('a kept check', () => {
  test('is listed, exported, deleted, and nobody else’s', async () => {
    const { token, password } = await app.signIn();
    const other = await app.signIn();
    const { id } = replyOf(await call(checkScamText, { token, query: '?keep=true', body: { text: SCAM } }));
    const [kept] = replyOf(await call(listScamChecks, { token }));
    expect(kept).toMatchObject({ id, excerpt: SCAM, answer: { verdict: 'dangerous' } });
    expect(replyOf(await call(listScamChecks, { token: other.token }))).toEqual([]);
    const exported = await app.fetch(`/api${exportData.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    });
    expect(await exported.json()).toMatchObject({ scam_checks: [{ id, verdict: 'dangerous' }] });
    const params = { id: id ?? '' };
    expect((await call(deleteScamCheck, { token: other.token, params })).status).toBe(404);
    expect((await call(deleteScamCheck, { token, params })).status).toBe(204);
    expect(replyOf(await call(listScamChecks, { token }))).toEqual([]);
  });

  test('of a picture reads its code, and keeps no file', async () => {
    const { token } = await app.signIn();
    const file = { name: 'code.png', content: Buffer.from(QR_CODE, 'base64') };
    const { id, kind, parts } = replyOf(await sendFile(app, token, file, '?keep=true'));
    expect(kind).toBe('picture');
    expect(parts.codes).toMatchObject([{ kind: 'link', text: 'https://paypa1-secure.com/login' }]);
    const [kept] = replyOf(await call(listScamChecks, { token }));
    expect(kept).toMatchObject({ id, excerpt: 'code.png: https://paypa1-secure.com/login' });
    expect(JSON.stringify(kept)).not.toContain(QR_CODE.slice(0, 40));
  });

  test('is shown to support as a card', async () => {
    const { token } = await app.signIn();
    const staff = await app.signIn(undefined, 'support');
    const { id } = replyOf(await call(checkScamText, { token, query: '?keep=true', body: { text: SCAM } }));
    const shared = replyOf(await call(shareThing, { token, body: { thing: 'scam_check', subject_id: id ?? '' } }));
    expect(shared.card).toMatchObject({ kind: 'shared', thing: 'scam_check', title: SCAM });
    const opened = replyOf(await call(readShared, { token: staff.token, params: { id: shared.id } }));
    expect(opened.facts.map(({ name }) => name)).toContain('Because');
  });
});

describe('trusted domains', () => {
  test('of a person change their own answers alone', async () => {
    const [me, other] = [await app.signIn(), await app.signIn()];
    const verdictFor = async (token: string) =>
      replyOf(await call(checkScamText, { token, body: { text: SCAM } })).parts.links[0]?.trust;
    const added = replyOf(await call(trustDomain, { token: me.token, body: { domain: 'https://www.paypa1-secure.com/x' } }));
    expect(added.domain).toBe('www.paypa1-secure.com');
    expect(await verdictFor(me.token)).not.toBe('trusted');
    const whole = replyOf(await call(trustDomain, { token: me.token, body: { domain: 'paypa1-secure.com' } }));
    expect(await verdictFor(me.token)).toBe('trusted');
    expect(await verdictFor(other.token)).toBe('suspicious');
    expect(replyOf(await call(listTrustedDomains, { token: me.token }))).toMatchObject([whole, added]);
    expect((await call(trustDomain, { token: me.token, body: { domain: 'PAYPA1-secure.com' } })).status).toBe(409);
    expect((await call(distrustDomain, { token: other.token, params: { id: whole.id } })).status).toBe(404);
    expect((await call(distrustDomain, { token: me.token, params: { id: whole.id } })).status).toBe(204);
    expect(await verdictFor(me.token)).toBe('suspicious');
  });

  test('are refused where nobody owns them alone', async () => {
    const { token } = await app.signIn();
    for (const domain of ['com', 'co.uk', 'github.io', 'localhost', '10.0.0.1', 'not a domain', 'http://'])
      expect(await call(trustDomain, { token, body: { domain } })).toMatchObject({ status: 422 });
  });

  test('and dangerous ones of the provider are for everyone', async () => {
    const admin = await app.signIn(undefined, 'admin');
    const { token } = await app.signIn();
    const text = 'Look: https://shop.listed-by-us.example.net/a';
    const before = replyOf(await call(checkScamText, { token, body: { text } }));
    expect(before.verdict).toBe('nothing_found');
    const body = { domain: 'listed-by-us.example.net', list: 'dangerous' } as const;
    const added = replyOf(await call(addProviderDomain, { token: admin.token, body }));
    const after = replyOf(await call(checkScamText, { token, body: { text } }));
    expect(after).toMatchObject({ verdict: 'dangerous', reasons: [{ code: 'listed_domain' }] });
    expect(replyOf(await call(listProviderDomains, { token: admin.token }))).toEqual([added]);
    expect((await call(removeProviderDomain, { token: admin.token, body: { id: added.id } })).status).toBe(200);
    expect(replyOf(await call(checkScamText, { token, body: { text } })).verdict).toBe('nothing_found');
  });
});

describe('an alert about a dangerous message', () => {
  test('is one a day for premium people who keep their checks, low, not blocked, and without points', async () => {
    const { id, token } = await app.signIn();
    await givePremium(app.app.database, id);
    const send = (text: string, query = '') => call(checkScamText, { token, body: { text }, query });
    await send(`${SCAM} Not kept.`);
    expect(await app.app.database.selectFrom('alerts').select('id').execute()).toEqual([]);
    await send(SCAM, '?keep=true');
    // To keep it again is no second attempt.
    await send(SCAM, '?keep=true');
    await send(`${SCAM} Again!`, '?keep=true');
    await send(ORDINARY, '?keep=true');
    const other = await app.signIn();
    await call(checkScamText, { token: other.token, body: { text: SCAM }, query: '?keep=true' });
    expect(await app.app.database.selectFrom('alerts').select('id').execute()).toHaveLength(1);
    const alerts = replyOf(await call(listAlerts, { token }));
    expect(alerts).toMatchObject([
      { threat_type: 'phishing_attempt', rule: 'phishing_attempt.checked', severity: 'low', blocked: false, count: 2 },
    ]);
  });
});

test('a check that takes too long is ended with its thread, and the next one works', async () => {
  const slow = await startTestApp({ surroundings: { mail_zone: {}, scam_check_ms: 1 } });
  const { token } = await slow.signIn();
  expect(await slow.call(checkScamText, { token, body: { text: SCAM } })).toMatchObject({
    status: 503,
    problem: { code: 'unavailable' },
  });
});
