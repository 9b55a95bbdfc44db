import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { describe, expect, test } from 'vitest';
import { proveAuthor, resolverOf, type Zone } from './mail-proof.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const record = (text: string) => [[text]];
const MARIA = 'maria@example.com';

async function signed(mail: string, signingDomain = 'example.com', maxBodyLength?: number): Promise<string> {
  const key = { signingDomain, selector: 's', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  const { signatures } = await dkimSign(mail, {
    canonicalization: 'relaxed/relaxed',
    ...key,
    signatureData: [{ ...key, ...(maxBodyLength !== undefined && { maxBodyLength }) }],
  });
  return `${signatures}${mail}`;
}

const mail = (body = 'Hello') => `From: Maria <${MARIA}>\r\nTo: <support@example.net>\r\nSubject: Re: answer\r\n\r\n${body}\r\n`;
const fieldsOf = (raw: string) =>
  (raw.split('\r\n\r\n', 1)[0] ?? '')
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => ({ key: line.slice(0, line.indexOf(':')).toLowerCase(), value: line.slice(line.indexOf(':') + 1).trim() }));
const prove = (raw: string, zone: Zone, author = MARIA, authserv_id?: string) =>
  proveAuthor(Buffer.from(raw), author, fieldsOf(raw), { authserv_id, resolve: resolverOf(zone) });

const ZONE: Zone = {
  'TXT s._domainkey.example.com': record(KEY),
  'TXT s._domainkey.mail.example.com': record(KEY),
  'TXT s._domainkey.example.net': record(KEY),
};
const strict = (zone: Zone) => ({ ...zone, 'TXT _dmarc.example.com': record('v=DMARC1; p=none; adkim=s') });
const relaxed = (zone: Zone) => ({ ...zone, 'TXT _dmarc.example.com': record('v=DMARC1; p=reject') });

describe('the domain of an author vouches for a mail', () => {
  test.each([
    ['by its own signature, without a DMARC record', ZONE, 'example.com', 'aligned'],
    ['by its own signature, with a strict record', strict(ZONE), 'example.com', 'aligned'],
    ['by the signature of a domain under it, relaxed', relaxed(ZONE), 'mail.example.com', 'aligned'],
    ['not by the signature of a domain under it, strict', strict(ZONE), 'mail.example.com', 'not_aligned'],
    ['not by the signature of another domain', relaxed(ZONE), 'example.net', 'not_aligned'],
    ['not by the signature of another domain, without a record', ZONE, 'example.net', 'not_aligned'],
    ['not by a signature whose key is not there', {}, 'example.com', 'not_aligned'],
  ])('%s', async (_how, zone, domain, proof) => {
    expect(await prove(await signed(mail(), domain), zone)).toBe(proof);
  });

  test('not where nothing is signed, and without a question to the DNS', async () => {
    const resolve = () => Promise.reject(new Error('asked'));
    expect(await proveAuthor(Buffer.from(mail()), MARIA, fieldsOf(mail()), { resolve })).toBe('not_aligned');
  });

  test('not when the words were changed, or others were added after the signed ones', async () => {
    const whole = await signed(mail('Pay 10'));
    expect(await prove(whole.replace('Pay 10', 'Pay 99'), ZONE)).toBe('not_aligned');
    const partly = await signed(mail('Hello'), 'example.com', 5);
    expect(await prove(`${partly}Pay 99\r\n`, ZONE)).toBe('not_aligned');
  });

  test('not where From was changed after it was signed', async () => {
    const raw = (await signed(mail())).replace(MARIA, 'eve@example.com');
    expect(await prove(raw, ZONE, 'eve@example.com')).toBe('not_aligned');
  });

  test('perhaps, where the DNS does not answer', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' }));
    const raw = await signed(mail());
    expect(await proveAuthor(Buffer.from(raw), MARIA, fieldsOf(raw), { resolve })).toBe('unsure');
  });
});

describe("the results of a mailbox's provider", () => {
  const withResults = (...results: string[]) =>
    `${results.map((result) => `Authentication-Results: ${result}\r\n`).join('')}${mail()}`;
  const passed = 'mx.example.org; spf=pass smtp.mailfrom=example.com; dmarc=pass (p=NONE) header.from=example.com';

  test.each([
    ['counts where it is trusted', [passed], 'mx.example.org', 'aligned'],
    ['counts for nothing where it is not', [passed], undefined, 'not_aligned'],
    ['counts for nothing of another name', [passed], 'mx.example.net', 'not_aligned'],
    ['counts for nothing below that of another', ['mx.example.net; none', passed], 'mx.example.org', 'not_aligned'],
    [
      'counts for nothing below its own that says otherwise',
      ['mx.example.org; dmarc=fail header.from=example.com', passed],
      'mx.example.org',
      'not_aligned',
    ],
    [
      'counts for the domain of the author alone',
      ['mx.example.org; dmarc=pass header.from=example.net'],
      'mx.example.org',
      'not_aligned',
    ],
    [
      'counts for nothing in a comment',
      ['mx.example.org; none (; dmarc=pass header.from=example.com )'],
      'mx.example.org',
      'not_aligned',
    ],
    [
      'counts for nothing in quotes',
      ['mx.example.org; x="; dmarc=pass header.from=example.com"'],
      'mx.example.org',
      'not_aligned',
    ],
  ])('%s', async (_what, results, authserv_id, proof) => {
    expect(await prove(withResults(...results), {}, MARIA, authserv_id)).toBe(proof);
  });
});
