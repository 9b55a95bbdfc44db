import { currentUser, forgotPassword, login, register, resetPassword } from '@palisade/contract/auth';
import type { BodySentOf, Endpoint } from '@palisade/contract/endpoint';
import { confirmIdentity, renewRecoveryCodes, startTotp } from '@palisade/contract/two-factor';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callAt, problemOf, replyOf, startListeningApp } from './harness.ts';
import { startProxy } from './proxies.ts';
import { PROXY_KINDS, withoutProxy } from './proxy-programs.ts';

const PASSWORD = 'a long enough password';
const kinds = PROXY_KINDS.filter((kind) => withoutProxy(kind) === undefined);
needing('nginx, Caddy and HAProxy', kinds.length > 0).test('a proxy is there', () => undefined);

// Attacks on accounts by strangers: in public exposure, through a real proxy that is not set up as trusted.
describe.each(kinds)('behind %s', async (kind) => {
  const { app, url } = await startListeningApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  const through = async () => {
    const proxy = await startProxy(kind, { url });
    return <E extends Endpoint>(endpoint: E, body?: BodySentOf<E>, token?: string) => callAt(proxy, endpoint, { body, token });
  };
  const lettersTo = async (recipient: string) => {
    const rows = await app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', recipient).execute();
    return rows.map(({ subject, text }) => ({ subject, token: /^[\w-]{43}$/m.exec(text ?? '')?.[0] ?? '', text: text ?? '' }));
  };
  const resetsTo = async (email: string) => (await lettersTo(email)).filter(({ subject }) => subject.includes('Reset'));

  test('another person’s address takes no factor and no letters, and is its owner’s after a reset', async () => {
    const call = await through();
    const email = 'victim@example.com';
    replyOf(await call(register, { email, username: 'You have won, call 900', password: PASSWORD }));
    const { access_token: token } = replyOf(await call(login, { email, password: PASSWORD }));
    replyOf(await call(confirmIdentity, { current_password: PASSWORD }, token));
    expect(problemOf(await call(startTotp, undefined, token)).code).toBe('email_unproven');
    const codes = await Promise.all(Array.from({ length: 50 }, () => call(renewRecoveryCodes, undefined, token)));
    expect(new Set(codes.map((answer) => problemOf(answer).code))).toEqual(new Set(['email_unproven']));
    replyOf(await call(forgotPassword, { email }));
    // Each is written behind its answer; that of registering may be the later one.
    await expect.poll(async () => (await resetsTo(email)).length).toBe(1);
    await expect.poll(async () => (await lettersTo(email)).length).toBe(2);
    const letters = await lettersTo(email);
    for (const { text } of letters) expect(text).not.toContain('You have won');
    const [reset] = await resetsTo(email);
    replyOf(await call(resetPassword, { reset_token: reset?.token ?? '', new_password: 'a password of the owner' }));
    const owner = replyOf(await call(login, { email, password: 'a password of the owner' }));
    expect(owner.email_unproven).toBeUndefined();
    expect((await call(currentUser, undefined, token)).status).toBe(401);
  });

  test('a name that looks like another one is refused', async () => {
    const call = await through();
    replyOf(await call(register, { email: 'real@example.com', username: 'palisade', password: PASSWORD }));
    for (const username of ['paIisade', 'pali\u200bsade', 'pаlisade', '\u202eedasilap']) {
      const { status } = await call(register, { email: 'fake@example.com', username, password: PASSWORD });
      expect([409, 422]).toContain(status);
    }
  });

  test('registering tells no email that is known', async () => {
    const call = await through();
    const answerOf = async (email: string, username: string) => {
      const { status, reply } = z
        .object({ status: z.int(), reply: z.record(z.string(), z.unknown()) })
        .parse(await call(register, { email, username, password: PASSWORD }));
      return { status, fields: Object.keys(reply), role: reply['role'] };
    };
    replyOf(await call(register, { email: 'known@example.com', username: 'somebody', password: PASSWORD }));
    expect(await answerOf('known@example.com', 'first try')).toEqual(await answerOf('unknown@example.com', 'second try'));
    await expect
      .poll(async () => (await lettersTo('known@example.com')).map(({ subject }) => subject))
      .toContain('Palisade: You already have an account');
  });

  test('resets that a stranger asks for in a loop neither void the owner’s nor use them up', async () => {
    const call = await through();
    const email = 'owner@example.com';
    replyOf(await call(register, { email, username: 'owner', password: PASSWORD }));
    replyOf(await call(forgotPassword, { email }));
    await expect.poll(async () => (await resetsTo(email)).length).toBe(1);
    const [own] = await resetsTo(email);
    await Promise.all(Array.from({ length: 40 }, () => call(forgotPassword, { email })));
    // Behind a proxy that is not known everybody has one address: the owner is answered all the same.
    replyOf(await call(forgotPassword, { email }));
    await expect.poll(async () => (await resetsTo(email)).length).toBe(6);
    replyOf(await call(resetPassword, { reset_token: own?.token ?? '', new_password: 'another long password' }));
  });
});
