// Takes pictures of the support desk and the chat with no, few and very many records, in the windows of snap.ts, dark and light. For the eye; measures nothing.
// `node bench/desk-pictures.ts <folder> [--fill=many] [--scheme=dark] [--width=390,320] [--whole]`. Needs npm start once (for the build).
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page } from '@playwright/test';
import { z } from 'zod';
import { FLAGS, fill, idOf } from './full-account.ts';
import { type BenchServer, startServer } from './server.ts';
import { SNAP_OPTIONS, snap } from './snap.ts';

const FILLS = ['none', 'few', 'many'] as const;
const MANY = { conversations: 10_000, messages: 10_000, answers: 500, pages: 60, weeks: 60 } as const;

const { values, positionals } = parseArgs({ options: SNAP_OPTIONS, allowPositionals: true });
const [folder = join(tmpdir(), 'palisade-desk-pictures')] = positionals;

type Person = Awaited<ReturnType<BenchServer['signIn']>>;

const headersOf = ({ token }: Person) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

async function ask(server: BenchServer, person: Person, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${server.url}/api${path}`, {
    method,
    headers: body === undefined ? { authorization: `Bearer ${person.token}` } : headersOf(person),
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.status === 204 ? undefined : await answer.json();
}

/** A little of everything: three conversations, one of them answered, noted, tagged and rated. */
async function fillFew(
  server: BenchServer,
  { boss, ana, maria, otto, lena }: Record<'boss' | 'ana' | 'maria' | 'otto' | 'lena', Person>,
): Promise<string> {
  const say = (person: Person, message: string) => ask(server, person, 'POST', '/chat/messages', { message, sender: 'user' });
  await ask(server, maria, 'POST', '/firewall/rules', { rule_name: 'Printer in the hall', port: '9100' });
  const rules = z.array(z.object({ id: z.string() })).parse(await ask(server, maria, 'GET', '/firewall/rules'));
  const said = await say(maria, 'Hello! Since this morning my printer prints nothing, and the scanner says “Pending”.');
  const { conversation_id: id } = z.object({ conversation_id: z.string() }).parse(said);
  const of = `/support/conversations/${id}`;
  await ask(server, ana, 'POST', `${of}/claim`);
  const answer = (message: string, is_note = false) => ask(server, ana, 'POST', `${of}/messages`, { message, is_note });
  await answer('Good day Maria. I am looking at it. Which printer is it, the grey one in the hall?');
  await answer('She had the same in May: the rule for port 9100.', true);
  await say(maria, 'Yes, the grey one. This is the rule:');
  await ask(server, maria, 'POST', '/chat/share', {
    thing: 'rule',
    subject_id: rules[0]?.id ?? '',
    client_message_id: randomUUID(),
  });
  await ask(server, ana, 'POST', `${of}/remote-session`);
  await say(maria, 'Thank you, I see the code. Shall I read it to you?');
  await ask(server, ana, 'PATCH', of, { tags: ['printer', 'firewall'], priority: 'high' });
  await say(otto, 'I was charged twice in October. Who can look at my bill?');
  await ask(server, otto, 'POST', '/chat/person');
  await say(lena, 'A man on the phone says that he is from Microsoft and wants my card number.');
  for (const [shortcut, title] of [
    ['hello', 'Greeting'],
    ['restart', 'Please restart it'],
  ])
    await ask(server, boss, 'POST', '/admin/canned-answers', { shortcut, title, text: `Good day {{customer}}. ${title}.` });
  return id;
}

const made = new Map<string, string>();
/** An id that is named again. */
function madeOf(kind: number, index: number): string {
  const known = made.get(`${kind} ${index}`) ?? idOf(kind, index);
  made.set(`${kind} ${index}`, known);
  return known;
}

/** Fills the desk as after years with many customers. */
function fillMany(path: string, conversation_id: string): void {
  const database = new DatabaseSync(path);
  database.exec('pragma busy_timeout = 5000; begin immediate');
  const name = (index: number) => (index % 9 === 0 ? `a-person-with-a-rather-long-username-${index}` : `customer-${index}`);
  fill(database, 'users', MANY.conversations, (index) => ({
    ...{ id: madeOf(1, index), username: name(index), username_key: name(index), username_skeleton: name(index) },
    ...{ email: `${name(index)}@example.com`, role: 'customer' },
  }));
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  fill(database, 'conversations', MANY.conversations, (index) => ({
    ...{ id: madeOf(2, index), user_id: madeOf(1, index), status: index % 4 === 3 ? 'closed' : 'open', assignee_id: null },
    ...{ priority: ['low', 'normal', 'high', 'urgent'][index % 4] ?? 'normal', wants_person: index % 7 === 0 ? 1 : 0 },
    ...{ last_at: at(index), waiting_since: index % 3 === 0 ? null : at(index), last_seq: 1, last_shown_seq: 1 },
    ...{ support_read_seq: index % 2, customer_read_seq: 1, told_seq: 1, closed_at: index % 4 === 3 ? at(index) : null },
  }));
  fill(database, 'chat_messages', MANY.conversations, (index) => ({
    ...{
      id: madeOf(3, index),
      conversation_id: madeOf(2, index),
      user_id: madeOf(1, index),
      author_id: madeOf(1, index),
      seq: 1,
    },
    ...{
      sender: 'user',
      author: null,
      is_automatic: 0,
      is_note: 0,
      client_message_id: null,
      card: null,
      phrases: null,
      timestamp: at(index),
    },
    message: `My computer has been slow since I opened a file that came with a mail, and now nothing prints any more (${index}).`,
  }));
  for (const tag of ['printer', 'billing', 'a-long-tag-of-many-letters', 'phishing'])
    database
      .prepare(
        `insert into conversation_tags (conversation_id, tag) select id, ? from conversations where id > ? and (rowid % 3) = 0`,
      )
      .run(tag, '');
  const maria = z
    .object({ user_id: z.string() })
    .parse(database.prepare('select user_id from conversations where id = ?').get(conversation_id));
  fill(database, 'chat_messages', MANY.messages, (index) => ({
    ...{
      id: madeOf(4, index),
      conversation_id,
      user_id: maria.user_id,
      author_id: null,
      seq: 100 + index,
      client_message_id: null,
    },
    ...{
      sender: index % 3 === 0 ? 'support' : 'user',
      author: index % 3 === 0 ? 'ana' : null,
      is_automatic: 0,
      card: null,
      phrases: null,
    },
    ...{ is_note: index % 11 === 0 && index % 3 === 0 ? 1 : 0, timestamp: at((MANY.messages - index) * 7) },
    message: `This is what was said at place ${index}. ${'It goes on for a while, with words and words. '.repeat(index % 5)}`,
  }));
  const last = 100 + MANY.messages - 1;
  database
    .prepare('update conversations set last_seq = ?, last_shown_seq = ?, told_seq = ? where id = ?')
    .run(last, last, last, conversation_id);
  fill(database, 'canned_answers', MANY.answers, (index) => ({
    id: madeOf(5, index),
    shortcut: `answer-${index}`,
    title: `Answer no. ${index}, with a title`,
  }));
  fill(database, 'conversation_matters', MANY.weeks * 5, (index) => {
    const opened = 10_080 * Math.floor(index / 5) + 60 * (index % 5);
    const minutes = ((index * 37) % 90) + 2;
    return {
      ...{ id: madeOf(6, index), conversation_id: madeOf(2, index), user_id: madeOf(1, index), opened_at: at(opened) },
      ...{
        first_answered_at: at(opened - minutes),
        closed_at: at(opened - minutes * 9),
        rating: (index % 5) + 1,
        rated_at: at(opened - minutes * 9),
      },
    };
  });
  database.exec('commit; analyze');
  database.close();
}

async function signIn(browser: Browser, { url }: BenchServer, { email, password }: Person): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await page.getByRole('heading', { level: 1, name: /dashboard/i }).waitFor();
  return page;
}

mkdirSync(folder, { recursive: true });
for (const kind of FILLS.filter((one) => values.fill === undefined || one === values.fill)) {
  const data_dir = mkdtempSync(join(tmpdir(), 'palisade-desk-pictures-'));
  const server = await startServer(data_dir);
  const browser = await chromium.launch({ executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium', args: FLAGS });
  try {
    const boss = await server.signIn('boss');
    const [ana, maria, otto] = [await server.signIn('ana'), await server.signIn('maria'), await server.signIn('otto')];
    const lena = await server.signIn('lena');
    const users = z.array(z.object({ id: z.string() })).parse(await ask(server, boss, 'GET', '/admin/users?search=ana'));
    await ask(server, boss, 'PATCH', '/admin/users', { user_id: users[0]?.id ?? '', role: 'support' });
    const id = kind === 'none' ? undefined : await fillFew(server, { boss, ana, maria, otto, lena });
    if (kind === 'many') fillMany(join(data_dir, 'palisade.sqlite'), id ?? '');
    const [staff, customer] = [await signIn(browser, server, boss), await signIn(browser, server, maria)];
    const view = kind === 'none' ? '/support' : '/support?view=all';
    const screens: (readonly [string, Page, string])[] = [
      ['inbox', staff, view],
      ...(id === undefined
        ? []
        : ([
            ['conversation', staff, `${view}&conversation=${id}`],
            ['card', staff, `${view}&conversation=${id}&pane=customer`],
          ] as const)),
      ['answers', staff, '/support/answers'],
      ['reports', staff, '/support/reports'],
      ['settings', staff, '/admin/setup'],
      ['write-help', staff, '/admin/help'],
      ['chat', customer, '/chat'],
      ['live-chat', customer, '/live-chat'],
      ['help', customer, '/help'],
      ['article', customer, '/help/what-pending-means'],
    ];
    for (const [name, page, path] of screens) await snap(page, `${server.url}${path}`, folder, name, kind, values);
  } finally {
    await browser.close();
    await server.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
}
