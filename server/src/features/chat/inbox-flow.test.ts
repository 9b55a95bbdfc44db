import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { answerConversation, downloadMail, listDeskMessages, takeMail } from '@palisade/contract/desk';
import { EICAR } from '@palisade/scanner/test/files';
import iconv from 'iconv-lite';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { expect, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { chatEnglish } from '#test/chat-english.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { insertRow, updateRows } from '#test/rows.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { createSteeredEngine } from '#test/steered-engine.ts';
import { resolverOf } from './mail-proof.ts';
import type { Mailbox } from './mailbox.ts';
import { readMail } from './read-mail.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = `v=DKIM1; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const resolve = resolverOf({ 'TXT s._domainkey.example.com': [[KEY]] });
const soon = { timeout: 60_000, interval: 25 };
const DAY_MS = 86_400_000;

/** A mailbox in memory. */
function startMailbox() {
  const mails = new Map<number, { source: Buffer; flagged: boolean }>();
  let last = 0;
  const box: Mailbox = {
    validity: '1',
    async *after(uid) {
      for (const [of, { source }] of [...mails]) {
        const recipients = source.toString('latin1').match(/^To: .*$/m)?.[0] ?? '';
        if (of > uid) yield { uid: of, size: source.length, recipients };
      }
      await Promise.resolve();
    },
    source: (uid) => Promise.resolve(mails.get(uid)?.source ?? Buffer.alloc(0)),
    remove: (uid) => Promise.resolve(void mails.delete(uid)),
    flag: async (uid) => {
      const mail = mails.get(uid);
      if (mail !== undefined) mail.flagged = true;
      await Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const deliver = (source: Buffer | string) => {
    last += 1;
    mails.set(last, { source: Buffer.from(source), flagged: false });
  };
  return { box, deliver, mails };
}

const mailbox = startMailbox();
const smtp = await startSmtpServer();
let ahead = 0;
const { engine, steered } = createSteeredEngine();
steered.find = (bytes) => (bytes.includes(EICAR.toString('base64')) ? { threat: 'EICAR-Test-File' } : {});
const app = await startListeningApp({
  environment: {
    SMTP_URL: smtp.url,
    MAIL_FROM: 'support@example.com',
    INBOX_IMAP_URL: 'imap://support%40example.com:x@127.0.0.1/INBOX',
  },
  surroundings: {
    embedded_engine: engine,
    ...{ unread_answer_ms: 0, mail_look_ms: 25, every_ms: { desk_inbox: 25, retention: 200 } },
    ...{ open_mailbox: () => Promise.resolve(mailbox.box), read_mail: (raw) => readMail(raw, { resolve }) },
    now: () => Date.now() + ahead,
  },
});
const { call, signIn } = app;
await signIn('boss');
const ana = await signIn('ana', 'support');

async function answered() {
  const person = await signIn();
  const { conversation_id: id } = replyOf(
    await call(sendMessage, { token: person.token, body: { message: 'hello', sender: 'user' } }),
  );
  replyOf(await call(answerConversation, { token: ana.token, params: { id }, body: { message: 'Good day', is_note: false } }));
  const letter = await vi.waitFor(() => {
    const found = smtp.received.find(({ to, content }) => to === person.email && content.includes('replied to you'));
    if (found === undefined) throw new Error('no notice yet');
    return found.content;
  }, soon);
  return { ...person, id, letter, address: /^Reply-To: (\S+)$/m.exec(letter)?.[1] ?? '' };
}
type Customer = Awaited<ReturnType<typeof answered>>;

const sign = async (mail: Buffer) => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = { signingDomain: 'example.com', selector: 's', privateKey: pem };
  const { signatures } = await dkimSign(mail, { canonicalization: 'relaxed/relaxed', ...key, signatureData: [key] });
  return Buffer.concat([Buffer.from(signatures), mail]);
};
const mailOf = (customer: Customer, text: string | Buffer, { from = `Someone <${customer.email}>`, fields = '' } = {}) =>
  Buffer.concat([
    Buffer.from(`From: ${from}\r\nTo: <${customer.address}>\r\nMessage-ID: <${randomUUID()}@example.com>\r\n`),
    Buffer.from(`Subject: Re: x\r\n${fields === '' ? 'Content-Type: text/plain; charset=utf-8\r\n' : fields}\r\n`),
    Buffer.from(text),
  ]);
const shown = async ({ token }: Customer) => replyOf(await call(listMessages, { token })).toReversed();
const own = async (customer: Customer) =>
  (await shown(customer)).filter(({ sender }) => sender === 'user').map(({ message }) => message);
const notes = async ({ id }: Customer) =>
  replyOf(await call(listDeskMessages, { token: ana.token, params: { id } })).filter(({ is_note }) => is_note);
const noteOf = (customer: Customer) =>
  vi.waitFor(async () => {
    const [note] = await notes(customer);
    if (note?.card?.kind !== 'mail') throw new Error('no note yet');
    return { ...note, card: note.card };
  }, soon);
const kept = (customer: Customer) =>
  app.app.database.selectFrom('arrived_mails').selectAll().where('conversation_id', '=', customer.id).execute();
/** The hourly retention has run once from its beginning on. */
async function retained() {
  const { id, conversation_id, user_id } = {
    ...(await app.app.database.selectFrom('arrived_mails').selectAll().executeTakeFirstOrThrow()),
    id: newId(),
  };
  const long_ago = '1990-01-01T00:00:00.000Z';
  await insertRow(app.app.database, 'arrived_mails', {
    ...{ id, conversation_id, user_id, mail_key: id, state: 'message', size: 1, sha256: '', message_id: null },
    ...{ arrived_at: long_ago, read_at: long_ago },
  });
  await vi.waitFor(async () => {
    expect(await app.app.database.selectFrom('arrived_mails').select('id').where('id', '=', id).execute()).toEqual([]);
  }, soon);
}
const download = async (mail_id: string) => {
  const url = `${app.url}/api${downloadMail.path.replace('{id}', mail_id)}`;
  return await fetch(url, { headers: { authorization: `Bearer ${ana.token}` } });
};

test('a signed answer is the customer’s message, whole but for our notice, and its original is kept', async () => {
  const customer = await answered();
  const quoted = customer.letter.replace(/^.*?\r?\n\r?\n/s, '').replaceAll(/^/gm, '> ');
  const words = 'From: the first day on it fails.\nDate: yesterday\n> my own mark\nThanks';
  const raw = await sign(mailOf(customer, `${words}\n\nOn Sun, 22 Nov 2026, Palisade wrote:\n${quoted}`));
  mailbox.deliver(raw);
  await vi.waitFor(async () => expect(await own(customer)).toEqual(['hello', words]), soon);
  await vi.waitFor(() => expect(mailbox.mails.size).toBe(0), soon);
  const [mail] = await kept(customer);
  expect(mail).toMatchObject({ state: 'message', size: raw.length });
  const answer = await download(mail?.id ?? '');
  expect(Buffer.from(await answer.arrayBuffer()).equals(raw)).toBe(true);
});

test.each([
  ['without a signature', {}, false, 'not_aligned'],
  ['with two From fields', { fields: 'From: <eve@example.net>\r\nContent-Type: text/plain\r\n' }, true, 'several_authors'],
  ['with several addresses', { from: 'SELF, <eve@example.net>' }, true, 'several_authors'],
  ['with another sender', { fields: 'Sender: <eve@example.net>\r\nContent-Type: text/plain\r\n' }, true, 'other_sender'],
  ['from another address', { from: '<eve@example.com>' }, true, 'other_address'],
])(
  'a mail %s is no word of the customer’s until the staff takes it over',
  async (_how, { from, fields }: { from?: string; fields?: string }, isSigned, reason) => {
    const customer = await answered();
    const mail = mailOf(customer, 'Change my plan', {
      ...(from !== undefined && { from: from.replace('SELF', customer.email) }),
      ...(fields !== undefined && { fields }),
    });
    mailbox.deliver(isSigned ? await sign(mail) : mail);
    const { message, card, phrases } = await noteOf(customer);
    expect(phrases?.[0]).toMatchObject({ params: { reason } });
    expect(phrases?.[0]?.code).toMatch(/^email\.unverified/u);
    expect(chatEnglish({ phrases })).toBe(message);
    expect(message).toContain('Sender not verified');
    expect(message).toContain('Change my plan');
    expect(card).toMatchObject({ reason, is_taken: false });
    expect(await own(customer)).toEqual(['hello']);
    const params = { id: card.mail_id };
    expect(problemOf(await call(takeMail, { token: customer.token, params })).code).toBe('forbidden');
    expect(replyOf(await call(takeMail, { token: ana.token, params }))).toMatchObject({
      sender: 'user',
      message: 'Change my plan',
    });
    expect(await own(customer)).toEqual(['hello', 'Change my plan']);
    expect(problemOf(await call(takeMail, { token: ana.token, params })).code).toBe('conflict');
    const all = await notes(customer);
    expect(all.find(({ id }) => id !== all[0]?.id)?.card).toMatchObject({ is_taken: true });
    expect(all[0]?.message).toContain('as the customer’s message');
    expect(all[0] && chatEnglish(all[0])).toBe(all[0]?.message);
  },
);

test('a bare forward is a message with the mail as a file, scanned; a threat in it is left out', async () => {
  const customer = await answered();
  const part = (content: string) =>
    `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${content}\r\n--b--\r\n`;
  const send = async (content: string) => {
    const [fields = '', ...rest] = part(content).split('\r\n\r\n');
    mailbox.deliver(await sign(mailOf(customer, rest.join('\r\n\r\n'), { fields: `${fields}\r\n` })));
  };
  await send('From: eve@example.net\r\nSubject: Pay\r\n\r\nPay at once.');
  await vi.waitFor(
    async () =>
      expect((await shown(customer)).at(-1)?.attachments.map(({ filename }) => filename)).toEqual(['forwarded-mail-1.eml']),
    soon,
  );
  await send(
    `From: eve@example.net\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${EICAR.toString('base64')}`,
  );
  await vi.waitFor(
    async () =>
      expect((await shown(customer)).at(-1)?.message).toContain(
        'We left out 1 infected file: "forwarded-mail-1.eml: EICAR-Test-File".',
      ),
    soon,
  );
  const left_out = (await shown(customer)).slice(-2);
  expect(left_out.map(({ phrases }) => phrases)).toEqual([
    [{ code: 'email.empty', params: {} }],
    [{ code: 'email.infected_named', params: { count: 1, files: 'forwarded-mail-1.eml: EICAR-Test-File' } }],
  ]);
  expect(left_out.map(chatEnglish)).toEqual(left_out.map(({ message }) => message));
  const inline =
    'Is this real?\n\n---------- Forwarded message ---------\nFrom: Bank <eve@example.net>\nDate: Sun\nSubject: Pay\n\nPay at once.';
  mailbox.deliver(await sign(mailOf(customer, inline)));
  await vi.waitFor(async () => {
    const found = (await shown(customer)).find(({ message }) => message === 'Is this real?');
    expect(found?.attachments).toMatchObject([{ filename: 'forwarded-mail.txt', status: 'clean' }]);
  }, soon);
});

test("an answer with only this server's notice is left in the mailbox, and not stored", async () => {
  const customer = await answered();
  mailbox.deliver(await sign(mailOf(customer, customer.letter.replace(/^.*?\r?\n\r?\n/s, '').replaceAll(/^/gm, '> '))));
  mailbox.deliver(await sign(mailOf(customer, 'the last one')));
  await vi.waitFor(async () => expect(await own(customer)).toEqual(['hello', 'the last one']), soon);
  await vi.waitFor(() => expect(mailbox.mails.size).toBe(1), soon);
  expect(await kept(customer)).toHaveLength(1);
  mailbox.mails.clear();
});

test('unverified mails are kept up to 100 MB of a conversation; excess ones stay in the mailbox, flagged', async () => {
  const customer = await answered();
  mailbox.deliver(mailOf(customer, 'the first'));
  await noteOf(customer);
  await updateRows(app.app.database, 'arrived_mails', { conversation_id: customer.id }, { size: 100 * 1024 * 1024 });
  mailbox.deliver(mailOf(customer, 'the second'));
  await vi.waitFor(() => expect([...mailbox.mails.values()].map(({ flagged }) => flagged)).toEqual([true]), soon);
  expect((await notes(customer))[0]).toMatchObject({ card: null });
  expect((await notes(customer))[0]?.message).toContain('the second');
  expect(await kept(customer)).toHaveLength(1);
  mailbox.mails.clear();
});

test('a mail whose letters cannot be read is offered to the staff as it came', async () => {
  const customer = await answered();
  const raw = await sign(mailOf(customer, iconv.encode('Grüße', 'windows-1252')));
  mailbox.deliver(raw);
  const { card } = await noteOf(customer);
  expect(card).toMatchObject({ reason: 'lost_letters' });
  expect(Buffer.from(await (await download(card.mail_id)).arrayBuffer()).equals(raw)).toBe(true);
});

test('an original is kept until a person has had its message for 30 days, and goes with its conversation', async () => {
  const customer = await answered();
  mailbox.deliver(await sign(mailOf(customer, 'read me')));
  mailbox.deliver(mailOf(customer, 'not verified'));
  await vi.waitFor(async () => expect(await kept(customer)).toHaveLength(2), soon);
  await noteOf(customer);
  // An unread one stays, however old it is.
  ahead = 60 * DAY_MS;
  await retained();
  expect(await kept(customer)).toHaveLength(2);
  const { database } = app.app;
  await database
    .updateTable('conversations')
    .set(({ ref }) => ({ support_read_seq: ref('last_seq') }))
    .where('id', '=', customer.id)
    .execute();
  await vi.waitFor(async () => expect((await kept(customer)).filter(({ read_at }) => read_at !== null)).toHaveLength(1), soon);
  ahead = 91 * DAY_MS;
  await vi.waitFor(async () => expect((await kept(customer)).map(({ state }) => state)).toEqual(['unverified']), soon);
});
