// Measures how long another person's 4 KB file waits while one account sends 12 slow small files, and while twelve new accounts send one each, beside an idle queue.
// Bars: 2 s and 5 s. Keeps results/fairness.json. `node bench/fairness.ts`. Needs npm start once (for the build).
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { type BenchServer, describeMachine, median, RESULTS, startServer } from './server.ts';
import { upload } from './upload.ts';

const DAY_MS = 86_400_000;
const LETTERS = 20;
const SLOW_FILES = 12;
/** A file is made larger until it takes an engine so long, or is as large as this. */
const SLOW_MS = 5_000;
const SLOW_BYTES = { least: 128 * 1024, most: 32 * 1024 ** 2 } as const;

const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);

function crc32(bytes: Buffer): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A zip of one member. */
function zipOf(content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const name = Buffer.from('a.txt');
  const facts = Buffer.concat([
    u16(20),
    u16(0),
    u16(8),
    u16(0),
    u16(0),
    u32(crc32(content)),
    u32(packed.length),
    u32(content.length),
    u16(name.length),
    u16(0),
  ]);
  const local = Buffer.concat([u32(0x04034b50), facts, name, packed]);
  const central = Buffer.concat([u32(0x02014b50), u16(20), facts, u16(0), u16(0), u16(0), u32(0), u32(0), name]);
  return Buffer.concat([
    local,
    central,
    u32(0x06054b50),
    u16(0),
    u16(0),
    u16(1),
    u16(1),
    u32(central.length),
    u32(local.length),
    u16(0),
  ]);
}

/** Texts that are slow to match; the slowest of them is used, whichever that is with the rules of the day. */
const SLOW_TEXTS = ['.exe https://', 'powershell -w h ', '@eval(', 'certutil -decode ', 'bitsadmin /transfer '];
let made = 0;
function slowFile(text: string, bytes: number): Buffer {
  made += 1;
  const head = Buffer.from(`${made} ${randomBytes(8).toString('hex')}\n`);
  return zipOf(Buffer.concat([head, Buffer.alloc(bytes, text)]));
}

/** An account that was made two days ago: how old it is stands in its id. */
async function signInAsOld(server: BenchServer, data_dir: string, name: string): Promise<string> {
  await server.signIn(name);
  const database = new DatabaseSync(join(data_dir, 'palisade.sqlite'));
  database.exec('pragma busy_timeout = 5000; pragma foreign_keys = off');
  const time = (Date.now() - 2 * DAY_MS).toString(16).padStart(12, '0');
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${randomBytes(6).toString('hex')}`;
  database.prepare('update users set id = ? where username = ?').run(id, name);
  database.close();
  return (await server.signIn(name)).token;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-fairness-'));
const server = await startServer(data_dir);
try {
  const victim = await signInAsOld(server, data_dir, 'zoe');
  const send = (token: string, content: Buffer) => upload(server.url, token, 'file.bin', [content], content.length);
  const letter = () => timeOf(() => send(victim, randomBytes(4096)));
  for (let count = 0; count < 5; count += 1) await letter();
  const idle: number[] = [];
  for (let count = 0; count < LETTERS; count += 1) idle.push(await letter());

  // Of another account: who has used up their time comes behind those who have not.
  const measuring = (await server.signIn('measuring')).token;
  const timeOfSlow = (text: string, bytes: number) => timeOf(() => send(measuring, slowFile(text, bytes)));
  const alone: { text: string; ms: number }[] = [];
  for (const text of SLOW_TEXTS) alone.push({ text, ms: await timeOfSlow(text, SLOW_BYTES.least) });
  const { text: slowest, ms } = alone.reduce((one, other) => (other.ms > one.ms ? other : one));
  let slow_bytes: number = SLOW_BYTES.least;
  let alone_ms = ms;
  while (alone_ms < SLOW_MS && slow_bytes < SLOW_BYTES.most) {
    slow_bytes *= 2;
    alone_ms = await timeOfSlow(slowest, slow_bytes);
  }

  /** Letters one after the other, from the moment the slow files are on their way. */
  async function whileFlooded(tokens: readonly string[]): Promise<number[]> {
    const flood = new Set(tokens.map((token) => send(token, slowFile(slowest, slow_bytes)).catch(() => undefined)));
    for (const file of flood) void file.then(() => flood.delete(file));
    const waits: number[] = [];
    while (flood.size > 0 && waits.length < LETTERS) waits.push(await letter());
    await Promise.all(flood);
    return waits;
  }

  const eve = (await server.signIn('eve')).token;
  const one = await whileFlooded(Array.from({ length: SLOW_FILES }, () => eve));
  const many: string[] = [];
  for (let count = 0; count < SLOW_FILES; count += 1) many.push((await server.signIn(`eve${count}`)).token);
  const twelve = await whileFlooded(many);

  const round = (ms: number) => Math.round(ms * 10) / 10;
  const idle_ms = median(idle);
  const figures = (waits: readonly number[], bar_ms: number) => ({
    letters: waits.length,
    first_ms: round(waits[0] ?? Number.NaN),
    median_ms: round(median(waits)),
    most_ms: round(Math.max(...waits)),
    most_to_idle: round(Math.max(...waits) / idle_ms),
    bar_ms,
    reached: Math.max(...waits) <= bar_ms,
  });
  const result = {
    // Load of the machine at the end: 0 is nothing, the number of cores is all it can.
    machine: { ...describeMachine(), load: round(loadavg()[0] ?? 0) },
    slow_file: {
      text: slowest,
      bytes: slowFile(slowest, slow_bytes).length,
      unpacked_bytes: slow_bytes,
      alone_ms: round(alone_ms),
    },
    idle: { median_ms: round(idle_ms), most_ms: round(Math.max(...idle)) },
    one_account_with_12: figures(one, 2_000),
    twelve_new_accounts: figures(twelve, 5_000),
  };
  writeFileSync(join(RESULTS, 'fairness.json'), `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
} finally {
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
