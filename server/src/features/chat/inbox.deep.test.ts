import { randomUUID } from 'node:crypto';
import { MESSAGE_LENGTH_MAXIMUM, sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { answerConversation, closeConversation, listDeskMessages, readConversation } from '@palisade/contract/desk';
import { deleteAccount } from '@palisade/contract/privacy';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { expect, test, vi } from 'vitest';
import { createLog } from '#platform/log.ts';
import { NO_DOVECOT, startDovecot } from '#test/dovecot.ts';
import { replyOf, sharedDatabase, startScanningApp } from '#test/harness.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { createArrivedMails } from './arrived-mails.ts';
import type { ChatTables } from './chat.tables.ts';
import { createConversations } from './conversations.ts';
import { keepInbox } from './inbox.ts';
import { createMailAnswers } from './mail-answers.ts';
import { ANSWER_ABOVE } from './quoted.ts';
import { readMail } from './read-mail.ts';

if (NO_DOVECOT !== undefined) process.stdout.write(`skipped: ${NO_DOVECOT}\n`);

const soon = { timeout: 90_000, interval: 25 };

needing('Dovecot', NO_DOVECOT === undefined).describe('answers by mail', { timeout: 240_000 }, async () => {
  if (NO_DOVECOT !== undefined) return;
  const [mailbox, smtp] = [await startDovecot(), await startSmtpServer()];
  const location = await sharedDatabase();
  const options = {
    environment: {
      SMTP_URL: smtp.url,
      MAIL_FROM: 'support@example.com',
      INBOX_IMAP_URL: mailbox.url,
      INBOX_AUTHSERV_ID: 'mx.example.com',
    },
    surroundings: {
      database: location,
      unread_answer_ms: 0,
      mail_look_ms: 25,
      every_ms: { desk_inbox: 25 },
      shares_database: true as const,
    },
  };
  // Both look: of each job one server has the lease.
  const app = await startScanningApp(options);
  await startScanningApp(options);
  const { call, signIn } = app;
  const boss = await signIn('boss');
  const ana = await signIn('ana', 'support');

  /** A customer who was answered, and the mail about it. */
  async function answered() {
    const person = await signIn();
    const body = { message: 'hello', sender: 'user' } as const;
    const { conversation_id: id } = replyOf(await call(sendMessage, { token: person.token, body }));
    replyOf(await call(answerConversation, { token: ana.token, params: { id }, body: { message: 'Good day', is_note: false } }));
    const letter = await vi.waitFor(() => {
      const found = smtp.received.find(({ to, content }) => to === person.email && content.includes('replied to you'));
      if (found === undefined) throw new Error('no notice yet');
      return found.content;
    }, soon);
    const address = /^Reply-To: (\S+)$/m.exec(letter)?.[1] ?? '';
    return { ...person, id, letter, address };
  }
  type Customer = Awaited<ReturnType<typeof answered>>;

  const mailOf = (
    customer: Pick<Customer, 'email' | 'address'>,
    text: string,
    headers: readonly string[] = [],
    from = customer.email,
  ) =>
    [
      `Authentication-Results: mx.example.com; dmarc=pass header.from=${from.split('@')[1]}`,
      `From: Someone <${from}>`,
      `To: <${customer.address}>`,
      'Subject: Re: Palisade: Support has replied',
      `Message-ID: <${randomUUID()}@mail.example.com>`,
      ...(headers.some((header) => header.startsWith('Content-Type')) ? [] : ['Content-Type: text/plain; charset=utf-8']),
      ...headers,
      '',
      ...text.split('\n'),
    ].join('\r\n');
  const shown = async ({ token }: Pick<Customer, 'token'>) => replyOf(await call(listMessages, { token })).toReversed();
  const own = async (customer: Customer) =>
    (await shown(customer)).filter(({ sender }) => sender === 'user').map(({ message }) => message);
  const notes = async ({ id }: Customer) =>
    replyOf(await call(listDeskMessages, { token: boss.token, params: { id } })).flatMap(({ is_note, message }) =>
      is_note ? [message] : [],
    );
  const isEmpty = () => vi.waitFor(async () => expect(await mailbox.contents()).toEqual([]), soon);
  /** Everything that was delivered before was looked at once this one is a message. */
  async function settled() {
    const marker = await answered();
    await mailbox.deliver(mailOf(marker, 'the last one'));
    await vi.waitFor(async () => expect(await own(marker)).toEqual(['hello', 'the last one']), soon);
  }

  // proves: support-scale-11
  test('become messages of their conversation, without quotes, and are removed from the mailbox', async () => {
    const customer = await answered();
    expect(customer.letter).toContain(ANSWER_ABOVE);
    expect(customer.address).toMatch(/^support\+[a-z2-7]{42}@example\.com$/);
    replyOf(await call(closeConversation, { token: ana.token, params: { id: customer.id } }));
    const quoted = customer.letter.replace(/^.*?\n\n/s, '').replaceAll(/^/gm, '> ');
    await mailbox.deliver(mailOf(customer, `Now it works. Grüße\n\nOn Sun, 22 Nov 2026, Palisade wrote:\n${quoted}`));
    await vi.waitFor(async () => expect(await own(customer)).toEqual(['hello', 'Now it works. Grüße']), soon);
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id: customer.id } }))).toMatchObject({
      status: 'open',
      unread: 1,
    });
    const html = `<p>And <b>this</b>?</p><div class="gmail_quote">On Sun wrote:<blockquote>${ANSWER_ABOVE}</blockquote></div>`;
    await mailbox.deliver(mailOf(customer, html, ['Content-Type: text/html; charset=utf-8']));
    await vi.waitFor(async () => expect((await own(customer)).at(-1)).toBe('And this?'), soon);
    await isEmpty();
  });

  test('are taken once, however often one mail lies in the mailbox, and also when the mailbox numbers anew', async () => {
    const customer = await answered();
    const mail = mailOf(customer, 'only once');
    await mailbox.deliver(...Array.from({ length: 5 }, (_, copy) => `Received: from relay-${copy}\r\n${mail}`));
    await vi.waitFor(async () => expect(await own(customer)).toEqual(['hello', 'only once']), soon);
    await isEmpty();
    await mailbox.renumber();
    await mailbox.deliver(mail);
    await settled();
    expect(await own(customer)).toEqual(['hello', 'only once']);
  });

  // proves: support-fault-9
  test('are written once when their server ends after it has stored one and before it has marked it', async () => {
    const customer = await answered();
    const other = await startDovecot();
    const work: (() => Promise<void>)[] = [];
    const conversations = createConversations({ database: app.app.database.$pickTables<keyof ChatTables>(), now: Date.now });
    let isFirst = true;
    const database = app.app.database.$pickTables<keyof ChatTables | 'installation'>();
    const mails = createArrivedMails({
      database: database.$pickTables<keyof ChatTables>(),
      files: {
        keep: () => Promise.resolve(),
        read: () => Promise.reject(new Error('not asked')),
        removeBytes: () => Promise.resolve(),
      },
      now: Date.now,
    });
    const shared = {
      ...{ database, mails, news: { told: () => Promise.resolve([]) }, onChange: () => {}, logger: createLog('silent') },
      read: (raw: Uint8Array) => readMail(raw, { authserv_id: 'mx.example.com' }),
    };
    const answers = createMailAnswers({
      ...shared,
      database: database.$pickTables<keyof ChatTables>(),
      conversations: {
        note: (...written) => conversations.note(...written),
        noteByNobody: (...written) => conversations.noteByNobody(...written),
        async writeAsCustomer(...written) {
          const write = await conversations.writeAsCustomer(...written);
          if (isFirst) throw new Error('The server ends here.');
          return write;
        },
      },
      attachments: { take: () => Promise.reject(new Error('There are no files.')) },
    });
    keepInbox({
      ...shared,
      ...{ answers, conversations, url: other.url, now: Date.now },
      addresses: { of: () => '', read: () => customer.id },
      people: { findUser: () => Promise.resolve({ id: '', email: customer.email }) },
      jobs: {
        handle: (kind, done) => {
          const job = { id: '', payload: kind.payload.parse({}), attempts: 1, signal: new AbortController().signal };
          const nothing = () => Promise.resolve();
          work.push(() => done({ ...job, conclude: nothing, confirm: nothing, countAttempt: nothing }));
        },
      },
    });
    const [look = () => Promise.reject(new Error('nothing to do'))] = work;
    await other.deliver(mailOf(customer, 'stored, not told'), mailOf(customer, 'behind it'));
    // Dovecot may not list a delivered mail at once.
    await eventually(() => expect(look()).rejects.toThrow('The server ends here.'));
    isFirst = false;
    await look();
    expect(await own(customer)).toEqual(['hello', 'stored, not told', 'behind it']);
    expect(await other.contents()).toEqual([]);
  });

  // proves: support-bad-input-14
  test('of programs, of unknown authors, without a token or with a made-up one are left where they are', async () => {
    const customer = await answered();
    const gone = await answered();
    replyOf(await call(deleteAccount, { token: gone.token, body: { password: gone.password, confirmation: gone.email } }));
    const forged = customer.address.replace(/\+(.)/, (_, first: string) => `+${first === 'b' ? 'c' : 'b'}`);
    const left = [
      mailOf(customer, 'I am on holiday.', ['Auto-Submitted: auto-replied']),
      mailOf(customer, 'a list', ['Precedence: list']),
      mailOf({ ...customer, address: 'support@example.com' }, 'no token'),
      mailOf({ ...customer, address: forged }, 'forged'),
      mailOf(gone, 'of nobody'),
      mailOf(customer, `> ${ANSWER_ABOVE}`),
    ];
    await mailbox.deliver(...left);
    await settled();
    expect(await own(customer)).toEqual(['hello']);
    expect(await notes(customer)).toEqual([]);
    expect((await mailbox.contents()).map(({ flags }) => flags.includes('\\Flagged'))).toEqual(left.map(() => false));
  });

  test('that are longer than a message come with the whole text as a file; an unreadable one is flagged and reported', async () => {
    const customer = await answered();
    const long = 'All of this happened. '.repeat(300).trim();
    await mailbox.deliver(mailOf(customer, long));
    await vi.waitFor(async () => expect(await own(customer)).toHaveLength(2), soon);
    const message = (await shown(customer)).at(-1);
    expect(message?.message.length).toBe(MESSAGE_LENGTH_MAXIMUM);
    expect(message?.attachments).toMatchObject([{ filename: 'answer.txt', size: long.length }]);
    const nested = Array.from({ length: 500 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}`).join(
      '\n',
    );
    await mailbox.deliver(
      mailOf(customer, nested.slice(nested.indexOf('\n\n') + 2), ['Content-Type: multipart/mixed; boundary=b0']),
    );
    await vi.waitFor(async () => expect(await notes(customer)).toHaveLength(1), soon);
    expect((await notes(customer))[0]).toContain('couldn’t add an email');
    await vi.waitFor(async () => {
      const flagged = (await mailbox.contents()).filter(({ flags }) => flags.includes('\\Flagged'));
      expect(flagged).toHaveLength(1);
    }, soon);
  });

  // proves: support-bad-input-15
  test('are bounded for each conversation: two programs that answer each other come to an end', async () => {
    const customer = await answered();
    await mailbox.deliver(...Array.from({ length: 23 }, (_, count) => mailOf(customer, `no. ${count}`)));
    await settled();
    expect(await own(customer)).toHaveLength(21);
    expect(await notes(customer)).toEqual(['More than 20 emails arrived here in an hour. The others are in the mailbox.']);
  });
});
