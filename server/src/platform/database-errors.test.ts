import SqliteDatabase from 'better-sqlite3';
import { expect, test } from 'vitest';
import { DatabaseTrouble, databaseProblem, troubleOf, troubleOfConnection } from './database-errors.ts';

const coded = (code: string) => Object.assign(new Error('as the database says it'), { code });

// proves: attack-C.15-2
test.each([
  ['SQLITE_BUSY', 'unavailable', 2],
  ['SQLITE_BUSY_SNAPSHOT', 'unavailable', 1],
  ['40001', 'unavailable', 1],
  ['SQLITE_FULL', 'storage_full', 60],
  ['SQLITE_IOERR_WRITE', 'storage_full', 60],
  ['08006', 'unavailable', 5],
  ['57P01', 'unavailable', 5],
  ['53300', 'unavailable', 2],
  ['57014', 'unavailable', 2],
  ['53100', 'storage_full', 60],
  ['ENOSPC', 'storage_full', 60],
  ['EDQUOT', 'storage_full', 60],
])('%s is answered as %s, worth trying again after %i s', (code, problem, retry_after) => {
  expect(databaseProblem(coded(code))).toMatchObject({ status: 503, code: problem, retry_after });
});

test.each(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_ERROR', 'SQLITE_CORRUPT', '23505', '42P01', '22001', 'ERR_INVALID_ARG_TYPE', ''])(
  '%s is no trouble of the database',
  (code) => {
    expect([troubleOf(coded(code)), troubleOfConnection(coded(code)), databaseProblem(coded(code))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },
);

test('a refused connection is the database that is away only where a connection to it says so', () => {
  expect([troubleOf(coded('ECONNREFUSED')), troubleOfConnection(coded('ECONNREFUSED'))]).toEqual([undefined, 'away']);
  const both = new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')]);
  expect([troubleOf(both), troubleOfConnection(both)]).toEqual([undefined, 'away']);
  const told = new DatabaseTrouble('away', 'no answer', coded('ECONNREFUSED'));
  expect([troubleOf(told), told.code]).toEqual(['away', 'ECONNREFUSED']);
});

// proves: attack-C.15-2
test('SQLite itself says that it is full in one of these codes', () => {
  const full = new SqliteDatabase(':memory:');
  full.exec('create table notes (text text)');
  full.pragma('max_page_count = 3');
  const errorOf = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const filled = errorOf(() => {
    for (let row = 0; row < 100; row += 1) full.prepare('insert into notes values (?)').run('x'.repeat(4096));
  });
  expect(troubleOf(filled)).toBe('storage');
  full.close();
});
