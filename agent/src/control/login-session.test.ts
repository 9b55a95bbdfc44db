import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { activeOf, parseRecord, readActiveSession, sessionOf } from './login-session.ts';

const SEAT = 'IS_SEAT0=1\nCAN_MULTI_SESSION=1\nACTIVE=c2\nACTIVE_UID=1000\nSESSIONS=c2 c1\n';
const FIELDS = {
  UID: '1000',
  USER: 'anna',
  ACTIVE: '1',
  IS_DISPLAY: '1',
  STATE: 'active',
  REMOTE: '0',
  TYPE: 'x11',
  CLASS: 'user',
  SEAT: 'seat0',
  DISPLAY: ':0',
  LEADER: '812',
};
const recordOf = (fields: Record<string, string>) =>
  `# This is private data. Do not parse.\n${Object.entries(fields)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')}`;
const ACTIVE = { id: 'c2', uid: 1000 };

test('reads the session that is active on the seat', () => {
  expect(activeOf(SEAT)).toEqual(ACTIVE);
  expect(sessionOf(recordOf(FIELDS), ACTIVE, 'seat0')).toEqual({ id: 'c2', uid: 1000, type: 'x11', display: ':0' });
});

test.each<[string, Record<string, string>]>([
  ['another user', { UID: '1001' }],
  ['the greeter of the display manager', { CLASS: 'greeter' }],
  ['a session that is not active', { ACTIVE: '0' }],
  ['a session that is closing', { STATE: 'closing' }],
  ['a session from afar', { REMOTE: '1' }],
  ['another seat', { SEAT: 'seat1' }],
  ['a text terminal', { TYPE: 'tty' }],
  ['a user id that is no number', { UID: '1000x' }],
])('shows no desktop of %s', (_, changed) => {
  expect(sessionOf(recordOf({ ...FIELDS, ...changed }), ACTIVE, 'seat0')).toBeUndefined();
});

test.each([':0; rm', 'host:0', ':123456', '/tmp/x:0', ''])('takes no display %j from a record', (DISPLAY) => {
  expect(sessionOf(recordOf({ ...FIELDS, DISPLAY }), ACTIVE, 'seat0')?.display).toBeUndefined();
});

test.each([
  ['a key twice', 'UID=1000\nUID=0\n'],
  ['a line without a key', 'UID=1000\n=1\n'],
  ['a line without a value sign', 'UID=1000\nACTIVE\n'],
  ['a key of other letters', 'uid=1000\n'],
  ['more than a record has', 'A'.repeat(20_000)],
])('refuses a record with %s', (_, text) => {
  expect(parseRecord(text)).toBeUndefined();
});

test.each(['ACTIVE=../../etc/passwd\nACTIVE_UID=1000\n', 'ACTIVE=c2\nACTIVE_UID=4294967295\n', 'ACTIVE=c2\n', ''])(
  'takes no active session from %j',
  (seat) => expect(activeOf(seat)).toBeUndefined(),
);

test('follows no link to a record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-logind-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['seats', 'sessions']) mkdirSync(join(folder, name));
  expect(await readActiveSession(folder)).toBeUndefined();
  writeFileSync(join(folder, 'seats/seat0'), SEAT);
  writeFileSync(join(folder, 'record'), recordOf(FIELDS));
  symlinkSync(join(folder, 'record'), join(folder, 'sessions/c2'));
  expect(await readActiveSession(folder)).toBeUndefined();
  rmSync(join(folder, 'sessions/c2'));
  writeFileSync(join(folder, 'sessions/c2'), recordOf(FIELDS));
  expect(await readActiveSession(folder)).toMatchObject({ id: 'c2', uid: 1000 });
});
