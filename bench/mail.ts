// Measures letters a second: the server with a queue beside nodemailer's own pool with as many connections, to the same mail server; and how many letters arrive before a reset that is asked for behind all of them.
// No bar. Keeps results/mail.json. Needs npm start once (for the build).
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { describeMachine, RESULTS, startServer } from './server.ts';

const LETTERS = 2_000;
const CONNECTIONS = 10;

/** Recipients and times of letters, by `performance.now()`. */
const received: { to: string; at: number }[] = [];
const smtp = createServer((socket) => {
  let to = '';
  let isContent = false;
  const answer = (line: string) => socket.write(`${line}\r\n`);
  socket.on('error', () => socket.destroy());
  answer('220 bench');
  createInterface({ input: socket }).on('line', (line) => {
    if (isContent) {
      if (line !== '.') return;
      isContent = false;
      received.push({ to, at: performance.now() });
      answer('250 taken');
      return;
    }
    if (/^RCPT/i.test(line)) to = /<(.*?)>/.exec(line)?.[1] ?? '';
    isContent = /^DATA/i.test(line);
    answer(isContent ? '354 go on' : '250 ok');
  });
});
smtp.listen(0, '127.0.0.1');
await once(smtp, 'listening');
const address = smtp.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;

/** Letters a second between the first and the last of `count`. */
function rateOf(some: readonly { at: number }[]): number {
  return ((some.length - 1) / ((some.at(-1)?.at ?? 0) - (some[0]?.at ?? 0))) * 1_000;
}

const [load_before = 0] = loadavg();
const text = 'Hello,\n\nThese less serious alerts from last week are still open. We email serious ones at once.\n';
const pool = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: CONNECTIONS, ignoreTLS: true });
await Promise.all(
  Array.from({ length: LETTERS }, (_, index) =>
    pool.sendMail({ from: 'bench@example.com', to: `bare-${index}@example.com`, subject: 'Your weekly security summary', text }),
  ),
);
pool.close();
const bare = rateOf(received.splice(0));

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const server = await startServer(data_dir, {
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  MAIL_FROM: 'bench@example.com',
  RESET_DELIVERY: 'email',
});
const { email } = await server.signIn('person');
const table = new DatabaseSync(join(data_dir, 'palisade.sqlite'), { timeout: 10_000 });
const now = new Date().toISOString();
table.exec('begin');
const insert = table.prepare(
  "insert into mails (id, recipient, subject, text, created_at, attempts, next_attempt_at, leaves_no_trace, priority) values (?, ?, 'Your weekly security summary', ?, ?, 0, ?, 0, 3)",
);
for (let index = 0; index < LETTERS; index += 1) insert.run(randomUUID(), `ours-${index}@example.com`, text, now, now);
table.exec('commit');
table.close();
try {
  while (received.length < LETTERS / 5) await pause(5);
  const before = received.length;
  const asked_at = performance.now();
  const headers = { 'content-type': 'application/json' };
  await fetch(`${server.url}/api/auth/forgot-password`, { method: 'POST', headers, body: JSON.stringify({ email }) });
  while (received.length < LETTERS + 1) await pause(5);
  const place = received.findIndex(({ to }) => to === email);
  const ours = rateOf(received);
  const results = {
    letters: LETTERS,
    ours_per_second: ours,
    bare_nodemailer_pool_per_second: bare,
    ratio: ours / bare,
    letters_before_the_reset: place - before,
    reset_ms: (received[place]?.at ?? 0) - asked_at,
  };
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: 'letters a second from the queue to a local mail server, and a reset asked for behind thousands of digests',
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before },
    results,
  };
  writeFileSync(join(RESULTS, 'mail.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.table(results);
} finally {
  await server.stop();
  smtp.close();
  rmSync(data_dir, { recursive: true, force: true });
}
