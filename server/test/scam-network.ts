import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { z } from 'zod';

// Runs in a network namespace whose default route leads to an interface without anybody behind it: starts a server, has it check messages that name other hosts, and prints how many
// packets left, of DNS and of everything else. Prints the same once more after a request of its own, which proves that packets are counted.

const QUIET_MS = 3_000;

const rulesetSchema = z.object({
  nftables: z.array(z.object({ counter: z.object({ name: z.string(), packets: z.int() }).optional() })),
});

function counted(): Record<string, number> {
  const { nftables } = rulesetSchema.parse(JSON.parse(execFileSync('nft', ['-j', 'list', 'counters'], { encoding: 'utf8' })));
  return Object.fromEntries(nftables.flatMap(({ counter }) => (counter ? [[counter.name, counter.packets]] : [])));
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const HOSTS = ['93.184.216.34', 'example.com', 'paypa1-secure.com', 'bit.ly', '[2606:2800:220:1::1]', '3232235777'];
const TEXTS = [
  ...HOSTS.flatMap((host) => [`Pay at http://${host}/a?b=c`, `Log in: https://${host}:8443/login`, `hxxp://${host}/x`]),
  'https://www.google.com/url?q=http://93.184.216.34/',
  'ftp://93.184.216.34/file',
  '\\\\93.184.216.34\\share\\a.exe',
  'Call +49 30 901820 and send to DE89370400440532013000',
];
const MAIL = [
  'From: Bank <info@example.com>',
  'List-Unsubscribe: <http://93.184.216.34/u>',
  'Subject: Account',
  'Content-Type: text/html',
  '',
  '<link rel=stylesheet href="http://93.184.216.34/s.css"><img src="http://93.184.216.34/i.png"><script src="//93.184.216.34/s.js"></script>',
  '<iframe src="https://93.184.216.34/f"></iframe><a href="http://93.184.216.34/go">Your account</a>',
  '',
].join('\r\n');
// A signature whose body is right: its key is asked for.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = {
  signingDomain: 'example.com',
  selector: 'mail',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};
const { signatures } = await dkimSign(MAIL, { canonicalization: 'relaxed/relaxed', ...key, signatureData: [key] });
const FILES = [
  { name: 'letter.eml', content: signatures + MAIL },
  { name: 'page.html', content: MAIL.slice(MAIL.indexOf('<link')) },
  {
    name: 'card.vcf',
    content: 'BEGIN:VCARD\r\nFN:Me\r\nURL:http://93.184.216.34/\r\nPHOTO;VALUE=uri:http://93.184.216.34/p.jpg\r\nEND:VCARD\r\n',
  },
  {
    name: 'day.ics',
    content: 'BEGIN:VCALENDAR\r\nURL:http://93.184.216.34/\r\nATTACH:http://93.184.216.34/a\r\nEND:VCALENDAR\r\n',
  },
  { name: 'paper.pdf', content: '%PDF-1.4\n1 0 obj << /S /URI /URI (http://93.184.216.34/) >> endobj\n%%EOF' },
  { name: 'picture.svg', content: '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://93.184.216.34/i.png"/></svg>' },
];

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-scam-network-'));
const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
  env: { PATH: process.env['PATH'], PORT: '0', SCANNER_URL: 'none', DATA_DIR: data_dir },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => child.once('exit', resolve));
const url = await new Promise<string>((resolve, reject) => {
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    const address = /Palisade runs at (\S+)/.exec(output)?.[1];
    if (address !== undefined) resolve(address);
  });
  child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
});

async function signIn(): Promise<string> {
  const person = { email: 'ada@example.com', username: 'ada', password: 'a long enough password' };
  const post = (path: string) =>
    fetch(`${url}/api${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(person) });
  await post('/auth/register');
  return z.object({ access_token: z.string() }).parse(await (await post('/auth/login')).json()).access_token;
}

const before = counted();
const verdicts: string[] = [];
try {
  const token = await signIn();
  const headers = { authorization: `Bearer ${token}` };
  const note = async (answer: Response) => verdicts.push(z.object({ verdict: z.string() }).parse(await answer.json()).verdict);
  for (const text of TEXTS) {
    const body = JSON.stringify({ text });
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    await note(await fetch(`${url}/api/scam-check`, sent));
  }
  const send = async ({ name, content }: (typeof FILES)[number], query = '') => {
    const body = new FormData();
    body.append('file', new Blob([content]), name);
    await note(await fetch(`${url}/api/scam-check${query}`, { method: 'POST', headers, body }));
  };
  for (const file of FILES) await send(file);
  await pause(QUIET_MS);
  const after = counted();
  for (const file of FILES) await send(file, '?ask_dns=true');
  await pause(QUIET_MS);
  const allowed = counted();
  await fetch('http://93.184.216.34/', { signal: AbortSignal.timeout(500) }).catch(() => undefined);
  process.stdout.write(`${JSON.stringify({ verdicts, before, after, allowed, control: counted() })}\n`);
} finally {
  child.kill('SIGTERM');
  await ended;
  rmSync(data_dir, { recursive: true, force: true });
}
