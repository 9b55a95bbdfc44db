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
    return `The database ${file} is damaged (${code}). Put back a backup: npm run restore -- <file> --force. What is there now is kept beside it.`;
  if (code === 'ENOSPC' || code === 'SQLITE_FULL' || code === 'EDQUOT')
    return `There is no space left for the data folder ${data_dir}. Free some, or set DATA_DIR to another folder. Nothing is lost: start again then.`;
  if (code.startsWith('SQLITE_IOERR'))
    return `The disk of the data folder ${data_dir} does not read or write as it should (${code}). Look at its space and its health, then start again.`;
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|SQLITE_CANTOPEN|SQLITE_READONLY\w*)$/.test(code))
    return `The data folder ${data_dir} cannot be written (${code}). Make it writable, or set DATA_DIR to another folder.`;
  return undefined;
}

/** A sentence for each code of PostgreSQL and of the way to it, and undefined for any other. */
function ofPostgres(code: string, error: unknown): string | undefined {
  const said = reasonOf(error);
  switch (code) {
    case '28000':
      return `The database of DATABASE_URL does not let this user in: ${said}. Make the role (createuser), or name another one in DATABASE_URL.`;
    case '28P01':
      return `The database of DATABASE_URL refuses the password: ${said}. Correct user and password in DATABASE_URL.`;
    case '3D000':
      return `The database of DATABASE_URL does not exist: ${said}. Make it (createdb), or name another one in DATABASE_URL.`;
    case '42501':
      return `The user of DATABASE_URL may not make tables: ${said}. Give it the database (alter database ... owner to ...).`;
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
      return `The database of DATABASE_URL cannot be reached: ${said}. Start it, or correct the address in DATABASE_URL.`;
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
  return `${sentence} The database as it was before the upgrade is kept as ${copy}.`;
}

/** Why the server could not listen. */
export function explainListen(error: unknown, settings: Settings): string {
  const { host, port } = settings;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the other program, or set PORT to another port (for example PORT=3001).`;
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is not an address of this machine. Set HOST to 127.0.0.1, or to an address it has.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `HOST ${host} is no name that this machine can resolve. Set HOST to 127.0.0.1, or to an address of this machine.`;
    case 'EACCES':
    case 'EPERM':
      return `Port ${port} may not be opened by this user. Set PORT to a port above 1023.`;
    default:
      return reasonOf(error);
  }
}
