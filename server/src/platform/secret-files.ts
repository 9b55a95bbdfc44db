import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';

/** A secret that cannot be read from its file. `message` is one line that names the variable and the remedy; it never contains the secret. */
export class SecretFileError extends Error {
  override name = 'SecretFileError';
}

/** The setting that a file belongs to. The file holds the whole value, or the password of an address. */
interface SecretFile {
  setting: string;
  holds: 'value' | 'password';
}

/** Settings that name a file with a secret, the way container runtimes and systemd (LoadCredential) pass secrets. STORAGE_SECRET_FILE is read when the store is opened. */
const SECRET_FILES = {
  DATABASE_URL_FILE: { setting: 'DATABASE_URL', holds: 'value' },
  DATABASE_PASSWORD_FILE: { setting: 'DATABASE_URL', holds: 'password' },
  REDIS_URL_FILE: { setting: 'REDIS_URL', holds: 'value' },
  REDIS_PASSWORD_FILE: { setting: 'REDIS_URL', holds: 'password' },
  STORAGE_URL_FILE: { setting: 'STORAGE_URL', holds: 'value' },
  SMTP_URL_FILE: { setting: 'SMTP_URL', holds: 'value' },
  SMTP_PASSWORD_FILE: { setting: 'SMTP_URL', holds: 'password' },
  INBOX_IMAP_URL_FILE: { setting: 'INBOX_IMAP_URL', holds: 'value' },
  INBOX_IMAP_PASSWORD_FILE: { setting: 'INBOX_IMAP_URL', holds: 'password' },
  TURN_SECRET_FILE: { setting: 'TURN_SECRET', holds: 'value' },
  METRICS_TOKEN_FILE: { setting: 'METRICS_TOKEN', holds: 'value' },
} as const satisfies Record<string, SecretFile>;

/** The names of these settings, for the schema of the environment. */
export const secretFileShape = Object.fromEntries(Object.keys(SECRET_FILES).map((name) => [name, z.string().optional()]));

/** Maximum size of a secret, in bytes. */
const SECRET_MAXIMUM = 65_536;

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== '';

/** Reads a secret from a file, without a trailing line end. @throws SecretFileError */
function readSecret(name: string, path: string): string {
  let text: string;
  try {
    const { size, mode } = statSync(path);
    // Reading a pipe without a writer would block.
    if ((mode & 0o170_000) !== 0o100_000)
      throw new SecretFileError(`${name} isn’t a file: ${path}. Set it to a file with the secret.`);
    if (size > SECRET_MAXIMUM)
      throw new SecretFileError(
        `The file ${path} of ${name} is larger than ${SECRET_MAXIMUM} bytes, too large for a secret. Set it to another file.`,
      );
    text = readFileSync(path, 'utf8').replace(/(\r?\n)+$/, '');
  } catch (error) {
    if (error instanceof SecretFileError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new SecretFileError(`The file ${path} of ${name} doesn’t exist. Create it with the secret, or unset ${name}.`);
    throw new SecretFileError(
      `We can’t read the file ${path} of ${name} (${String(code ?? error)}). Allow the server’s user to read it.`,
    );
  }
  if (text.trim() === '') throw new SecretFileError(`The file ${path} of ${name} is empty. Save the secret in it.`);
  // URL would silently remove line ends.
  if (/[\r\n\0]/.test(text))
    throw new SecretFileError(`The file ${path} of ${name} has more than one line. Save only the secret in it.`);
  return text;
}

/** Inserts a password into an address. @throws SecretFileError */
function withPassword(name: string, setting: string, address: string | undefined, password: () => string): string {
  if (!isSet(address)) throw new SecretFileError(`${name} is set, but ${setting} isn’t. Set both, or unset ${name}.`);
  // The schema of the settings reports an invalid address.
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== '')
    throw new SecretFileError(`${setting} contains a password, and ${name} is set too. Remove one of them.`);
  // Redis allows an empty user name; the other protocols require one.
  if (url.username === '' && !/^rediss?:$/.test(url.protocol))
    throw new SecretFileError(
      `${name} is set, but ${setting} has no user. Use ${url.protocol}//user@host, without the password.`,
    );
  url.password = encodeURIComponent(password());
  return url.href;
}

/**
 * The environment, with the contents of `..._FILE` settings inserted. @throws SecretFileError for a file that is missing, unreadable, empty or not a regular file, and for a
 * secret that is given twice.
 */
export function withSecretFiles(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const read: Record<string, string | undefined> = { ...environment };
  const files = Object.entries<SecretFile>(SECRET_FILES).map(([name, file]) => ({
    name,
    ...file,
    path: environment[name]?.trim(),
  }));
  for (const { name, setting, holds, path } of files) {
    if (holds !== 'value' || !isSet(path)) continue;
    if (isSet(environment[setting])) throw new SecretFileError(`${setting} and ${name} are both set. Remove one of them.`);
    read[setting] = readSecret(name, path);
  }
  for (const { name, setting, holds, path } of files) {
    if (holds !== 'password' || !isSet(path)) continue;
    read[setting] = withPassword(name, setting, read[setting], () => readSecret(name, path));
  }
  return read;
}
