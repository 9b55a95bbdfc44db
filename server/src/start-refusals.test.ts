import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DatabaseTrouble } from '#platform/database-errors.ts';
import { parseSettings } from '#platform/settings.ts';
import { explainListen, explainStart } from './start-refusals.ts';

const failed = (code: string, message = 'It failed.') => Object.assign(new Error(message), { code });
const EMBEDDED = parseSettings({ DATA_DIR: '/srv/palisade' });
const POSTGRES = parseSettings({ DATABASE_URL: 'postgres://shield@db/palisade', HOST: 'localhost' });

describe('a start that failed is explained in one sentence with path and remedy', () => {
  test.each([
    [
      'SQLITE_CORRUPT',
      'The database /srv/palisade/palisade.sqlite is damaged (SQLITE_CORRUPT). Put back a backup: npm run restore -- <file> --force. What is there now is kept beside it.',
    ],
    [
      'SQLITE_NOTADB',
      'The database /srv/palisade/palisade.sqlite is damaged (SQLITE_NOTADB). Put back a backup: npm run restore -- <file> --force. What is there now is kept beside it.',
    ],
    [
      'SQLITE_FULL',
      'There is no space left for the data folder /srv/palisade. Free some, or set DATA_DIR to another folder. Nothing is lost: start again then.',
    ],
    [
      'ENOSPC',
      'There is no space left for the data folder /srv/palisade. Free some, or set DATA_DIR to another folder. Nothing is lost: start again then.',
    ],
    [
      'SQLITE_IOERR_WRITE',
      'The disk of the data folder /srv/palisade does not read or write as it should (SQLITE_IOERR_WRITE). Look at its space and its health, then start again.',
    ],
    ['EROFS', 'The data folder /srv/palisade cannot be written (EROFS). Make it writable, or set DATA_DIR to another folder.'],
  ])('the embedded database: %s', (code, sentence) => {
    expect(explainStart(failed(code), EMBEDDED)).toBe(sentence);
  });

  test.each([
    [
      '28000',
      'role "shield" does not exist',
      'The database of DATABASE_URL does not let this user in: role "shield" does not exist. Make the role (createuser), or name another one in DATABASE_URL.',
    ],
    [
      '28P01',
      'password authentication failed for user "shield"',
      'The database of DATABASE_URL refuses the password: password authentication failed for user "shield". Correct user and password in DATABASE_URL.',
    ],
    [
      '3D000',
      'database "palisade" does not exist',
      'The database of DATABASE_URL does not exist: database "palisade" does not exist. Make it (createdb), or name another one in DATABASE_URL.',
    ],
    [
      'ECONNREFUSED',
      'connect ECONNREFUSED 127.0.0.1:1',
      'The database of DATABASE_URL cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Start it, or correct the address in DATABASE_URL.',
    ],
  ])('PostgreSQL: %s', (code, said, sentence) => {
    expect(explainStart(new DatabaseTrouble('away', said, failed(code, said)), POSTGRES)).toBe(sentence);
  });

  test('a name that has several addresses, of which none answers, is explained by what each of them said', () => {
    const none = new AggregateError([
      failed('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'),
      failed('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
    ]);
    expect(explainStart(new DatabaseTrouble('away', '', Object.assign(none, { code: 'ECONNREFUSED' })), POSTGRES)).toContain(
      'cannot be reached: connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1.',
    );
  });

  test.each([
    [
      'ENOTFOUND',
      'HOST localhost is no name that this machine can resolve. Set HOST to 127.0.0.1, or to an address of this machine.',
    ],
    ['EADDRNOTAVAIL', 'HOST localhost is not an address of this machine. Set HOST to 127.0.0.1, or to an address it has.'],
    [
      'EADDRINUSE',
      'Port 3000 on localhost is in use. Stop the other program, or set PORT to another port (for example PORT=3001).',
    ],
    ['EACCES', 'Port 3000 may not be opened by this user. Set PORT to a port above 1023.'],
  ])('listening: %s blames no database', (code, sentence) => {
    expect(explainListen(failed(code), POSTGRES)).toBe(sentence);
  });

  test('after an upgrade has begun, the copy of before is named', () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-refusal-'));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
    const copy = join(DATA_DIR, 'palisade.before-upgrade.sqlite');
    writeFileSync(copy, '');
    expect(explainStart(new Error('It failed.'), parseSettings({ DATA_DIR }))).toBe(
      `It failed. The database as it was before the upgrade is kept as ${copy}.`,
    );
  });
});
