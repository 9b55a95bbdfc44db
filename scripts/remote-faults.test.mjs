// Holds docs/remote-faults.md: every fault of remote support has its row, and each row names a test that is there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { missing } from './proofs.mjs';

const FAULTS = [
  'Two technicians race one code',
  'Consent after a cancel',
  'Ended twice',
  'Picker denied',
  'Track ends',
  'Foreign origin, no token',
  'Technician sends an offer or `sendrecv`',
  'SDP of 1 MB',
  'TURN wrong',
  'TURN gone',
  'Agent killed',
  'Malformed RFB',
  'Role revoked, sign-out, password change',
  'SIGKILL of a server',
  'SIGKILL of one of two servers',
  'NaN and 2.5 as coordinates',
  'Customer reload',
  'Phone browser without getDisplayMedia',
  'Microphone refused',
  'Microphone unplugged',
  'Hundreds of sockets of control that say nothing',
  'A technician fills the record of a session with what they may do without end',
];

const text = readFileSync(join(ROOT, 'docs/remote-faults.md'), 'utf8');
const rows = [...text.matchAll(/^\| (?!fault |---)(.*?) \| .*? \| (.*) \|$/gmu)].map(([, fault = '', shown = '']) => ({
  fault,
  shown,
}));

test('has a row for every fault, in order', () => {
  expect(rows.map(({ fault }) => fault)).toEqual(FAULTS);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.fault}: ${name}`))).toEqual([]);
});
