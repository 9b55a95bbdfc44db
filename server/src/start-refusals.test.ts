import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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
      'The database /srv/palisade/palisade.sqlite is damaged (SQLITE_CORRUPT). Put back a backup: palisade restore <file> --force. What is there now is kept beside it.',
    ],
    [
      'SQLITE_NOTADB',
      'The database /srv/palisade/palisade.sqlite is damaged (SQLITE_NOTADB). Put back a backup: palisade restore <file> --force. What is there now is kept beside it.',
    ],
    [
      'SQLITE_FULL',
      'The disk of the data folder /srv/palisade is full. Free some space or set DATA_DIR to another folder, then start again. No data is lost.',
    ],
    [
      'ENOSPC',
      'The disk of the data folder /srv/palisade is full. Free some space or set DATA_DIR to another folder, then start again. No data is lost.',
    ],
    [
      'SQLITE_IOERR_WRITE',
      'The disk of the data folder /srv/palisade has errors (SQLITE_IOERR_WRITE). Check its space and health, then start again.',
    ],
    ['EROFS', 'We can’t write to the data folder /srv/palisade (EROFS). Make it writable, or set DATA_DIR to another folder.'],
  ])('the embedded database: %s', (code, sentence) => {
    expect(explainStart(failed(code), EMBEDDED)).toBe(sentence);
  });

  test.each(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])(
    'a full disk below data that is there: another folder would begin empty (%s)',
    (code) => {
      const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-full-'));
      writeFileSync(join(DATA_DIR, 'palisade.sqlite'), '');
      expect(explainStart(failed(code), parseSettings({ DATA_DIR }))).toBe(
        `The disk of the data folder ${DATA_DIR} is full. Free some space, then start again. No data is lost.`,
      );
    },
  );

  test.each([
    [
      '28000',
      'role "shield" does not exist',
      'The database at DATABASE_URL doesn’t know this user: role "shield" does not exist. Create the role (createuser), or change DATABASE_URL.',
    ],
    [
      '28P01',
      'password authentication failed for user "shield"',
      'The database at DATABASE_URL refuses the password: password authentication failed for user "shield". Correct the user and password in DATABASE_URL.',
    ],
    [
      '3D000',
      'database "palisade" does not exist',
      'The database at DATABASE_URL doesn’t exist: database "palisade" does not exist. Create it (createdb), or change DATABASE_URL.',
    ],
    [
      'ECONNREFUSED',
      'connect ECONNREFUSED 127.0.0.1:1',
      'We can’t reach the database at DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1. Start it, or correct the address in DATABASE_URL.',
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
      'DATABASE_URL: connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1.',
    );
  });

  test.each([
    ['ENOTFOUND', 'This machine can’t resolve HOST localhost. Set HOST to 127.0.0.1 or one of its addresses.'],
    ['EADDRNOTAVAIL', 'HOST localhost isn’t an address of this machine. Set HOST to 127.0.0.1 or one of its addresses.'],
    [
      'EADDRINUSE',
      'Port 3000 on localhost is in use. Stop the other program, or set PORT to another port (for example PORT=3001).',
    ],
    ['EACCES', 'This user can’t open port 3000. Set PORT to a port above 1023.'],
  ])('listening: %s blames no database', (code, sentence) => {
    expect(explainListen(failed(code), POSTGRES)).toBe(sentence);
  });

  test('after an upgrade has begun, the copy of before is named', () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-refusal-'));
    const copy = join(DATA_DIR, 'palisade.before-upgrade.sqlite');
    writeFileSync(copy, '');
    expect(explainStart(new Error('It failed.'), parseSettings({ DATA_DIR }))).toBe(
      `It failed. A copy from before the upgrade is in ${copy}.`,
    );
  });
});
