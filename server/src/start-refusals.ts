import { existsSync } from 'node:fs';
import { databaseLocation } from '#platform/database.ts';
import type { Settings } from '#platform/settings.ts';
import { upgradeCopyOf } from '#platform/upgrade-copy.ts';

// Turns an error at start into one line about its remedy.

/** The text of an error. One of several attempts to connect says nothing as a whole. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ');
  if (error instanceof Error && error.message === '' && error.cause !== undefined) return reasonOf(error.cause);
  return error instanceof Error ? error.message : String(error);
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** A sentence for each code of SQLite and of the file system, and undefined for any other. */
function ofFolder(code: string, settings: Settings): string | undefined {
  const { data_dir } = settings;
  const location = databaseLocation(settings);
  const file = 'sqlite' in location ? location.sqlite : data_dir;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return `The database ${file} is damaged (${code}). Put back a backup: palisade restore <file> --force. What is there now is kept beside it.`;
  if (code === 'ENOSPC' || code === 'SQLITE_FULL' || code === 'EDQUOT')
    // Another folder would begin empty, beside the data of this one.
    return `The disk of the data folder ${data_dir} is full. Free some space${existsSync(file) ? '' : ' or set DATA_DIR to another folder'}, then start again. No data is lost.`;
  if (code.startsWith('SQLITE_IOERR'))
    return `The disk of the data folder ${data_dir} has errors (${code}). Check its space and health, then start again.`;
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|SQLITE_CANTOPEN|SQLITE_READONLY\w*)$/.test(code))
    return `We can’t write to the data folder ${data_dir} (${code}). Make it writable, or set DATA_DIR to another folder.`;
  return undefined;
}

/** A sentence for each code of PostgreSQL and of the way to it, and undefined for any other. */
function ofPostgres(code: string, error: unknown): string | undefined {
  const said = reasonOf(error);
  switch (code) {
    case '28000':
      return `The database at DATABASE_URL doesn’t know this user: ${said}. Create the role (createuser), or change DATABASE_URL.`;
    case '28P01':
      return `The database at DATABASE_URL refuses the password: ${said}. Correct the user and password in DATABASE_URL.`;
    case '3D000':
      return `The database at DATABASE_URL doesn’t exist: ${said}. Create it (createdb), or change DATABASE_URL.`;
    case '42501':
      return `The user in DATABASE_URL can’t create tables: ${said}. Make it the owner (alter database ... owner to ...).`;
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
      return `We can’t reach the database at DATABASE_URL: ${said}. Start it, or correct the address in DATABASE_URL.`;
    default:
      return undefined;
  }
}

/** Why the server could not be built: its folder, its database, its keys, or what it shares with others. */
export function explainStart(error: unknown, settings: Settings): string {
  const code = codeOf(error);
  const location = databaseLocation(settings);
  const sentence = ('postgres' in location ? ofPostgres(code, error) : undefined) ?? ofFolder(code, settings) ?? reasonOf(error);
  const copy = 'sqlite' in location ? upgradeCopyOf(location.sqlite) : undefined;
  if (copy === undefined || !existsSync(copy) || sentence.includes(copy)) return sentence;
  return `${sentence} A copy from before the upgrade is in ${copy}.`;
}

/** Why the server could not listen. */
export function explainListen(error: unknown, settings: Settings): string {
  const { host, port } = settings;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the other program, or set PORT to another port (for example PORT=3001).`;
    case 'EADDRNOTAVAIL':
      return `HOST ${host} isn’t an address of this machine. Set HOST to 127.0.0.1 or one of its addresses.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `This machine can’t resolve HOST ${host}. Set HOST to 127.0.0.1 or one of its addresses.`;
    case 'EACCES':
    case 'EPERM':
      return `This user can’t open port ${port}. Set PORT to a port above 1023.`;
    default:
      return reasonOf(error);
  }
}
