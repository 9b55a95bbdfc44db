import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withSecretFiles } from './secret-files.ts';
import { parseSettings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-secrets-'));
let made = 0;

/** A new file with this content. */
function file(content: string): string {
  made += 1;
  const path = join(folder, `secret-${made}`);
  writeFileSync(path, content);
  return path;
}

describe('a setting of which a file holds the whole value', () => {
  test.each([
    ['DATABASE_URL', 'postgres://user:hush@host/palisade'],
    ['REDIS_URL', 'redis://:hush@host'],
    ['STORAGE_URL', 's3://key:hush@host/bucket'],
    ['SMTP_URL', 'smtp://user:hush@host:587'],
    ['INBOX_IMAP_URL', 'imaps://user:hush@host/INBOX'],
    ['TURN_SECRET', 'hush'.repeat(8)],
    ['METRICS_TOKEN', 'hush'.repeat(8)],
  ])('%s is read without the line end', (name, value) => {
    for (const end of ['', '\n', '\r\n', '\n\n'])
      expect(withSecretFiles({ [`${name}_FILE`]: file(`${value}${end}`) })[name]).toBe(value);
  });

  test('reaches the settings', () => {
    const settings = parseSettings({
      DATABASE_URL_FILE: file('postgres://user:hush@host/palisade\n'),
      REDIS_URL_FILE: file('redis://:hush@host\n'),
      TURN_URL: 'turn:host',
      TURN_SECRET_FILE: file(`${'s'.repeat(16)}\n`),
      METRICS_TOKEN_FILE: file(`${'t'.repeat(24)}\n`),
      STORAGE_URL_FILE: file('s3://key:hush@host/bucket\n'),
    });
    expect(settings).toMatchObject({
      database_url: 'postgres://user:hush@host/palisade',
      redis_url: 'redis://:hush@host',
      turn: { secret: 's'.repeat(16) },
      metrics: { token: 't'.repeat(24) },
      storage: { secret_key: 'hush' },
    });
  });

  test('is parsed as the setting itself, and not repeated in the error', () => {
    const wrong = parseErrorOf({ DATABASE_URL_FILE: file('mysql://user:hush@host/x') });
    expect(wrong).toMatch(/^DATABASE_URL must start with postgres:\/\//);
    expect(wrong).not.toContain('hush');
    expect(parseErrorOf({ METRICS_TOKEN_FILE: file('hush') })).not.toContain('hush');
    expect(parseErrorOf({ STORAGE_URL_FILE: file('s3://key:hush@host') })).not.toContain('hush');
  });
});

describe('a setting of which a file holds the password', () => {
  test.each([
    ['DATABASE_PASSWORD_FILE', 'DATABASE_URL', 'postgres://user@host:5433/palisade?sslmode=require'],
    ['REDIS_PASSWORD_FILE', 'REDIS_URL', 'rediss://host/2'],
    ['REDIS_PASSWORD_FILE', 'REDIS_URL', 'redis://user@host'],
    ['SMTP_PASSWORD_FILE', 'SMTP_URL', 'smtp://user%40example.com@host:587'],
    ['INBOX_IMAP_PASSWORD_FILE', 'INBOX_IMAP_URL', 'imaps://user@host/INBOX'],
  ])('%s is put into %s with any character in it', (name, setting, address) => {
    const password = 'a@b:c/d?e#f%20 g"ü\\';
    const whole = new URL(withSecretFiles({ [setting]: address, [name]: file(`${password}\n`) })[setting] ?? '');
    expect(decodeURIComponent(whole.password)).toBe(password);
    const expected = new URL(address);
    whole.password = '';
    expect(whole.href).toBe(expected.href);
  });

  test('may belong to an address that a file holds', () => {
    const environment = { DATABASE_URL_FILE: file('postgres://user@host/x\n'), DATABASE_PASSWORD_FILE: file('hush\n') };
    expect(parseSettings(environment).database_url).toBe('postgres://user:hush@host/x');
  });

  test.each([
    [{}, 'DATABASE_PASSWORD_FILE is set, but DATABASE_URL isn’t.'],
    [{ DATABASE_URL: 'postgres://user:hush@host/x' }, 'DATABASE_URL contains a password, and DATABASE_PASSWORD_FILE is set too.'],
    [{ DATABASE_URL: 'postgres://host/x' }, 'DATABASE_PASSWORD_FILE is set, but DATABASE_URL has no user.'],
    [{ DATABASE_URL: 'postgres' }, 'DATABASE_URL must start with postgres://'],
  ])('is refused in one sentence beside %j', (environment, said) => {
    const message = parseErrorOf({ ...environment, DATABASE_PASSWORD_FILE: file('hush') });
    expect(message.startsWith(said)).toBe(true);
    expect(message).not.toContain('hush');
  });
});

/** The sentence with which the server refuses an environment. */
function parseErrorOf(environment: Record<string, string>): string {
  try {
    parseSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  return '';
}

describe("a secret's file", () => {
  const of = (path: string) => parseErrorOf({ SMTP_URL_FILE: path });

  test('beside the setting itself is refused', () => {
    expect(parseErrorOf({ SMTP_URL: 'smtp://host', SMTP_URL_FILE: file('smtp://host') })).toBe(
      'SMTP_URL and SMTP_URL_FILE are both set. Remove one of them.',
    );
  });

  test('that is missing is named with its path', () => {
    const path = join(folder, 'nowhere');
    expect(of(path)).toBe(`The file ${path} of SMTP_URL_FILE doesn’t exist. Create it with the secret, or unset SMTP_URL_FILE.`);
    expect(of(join(file('x'), 'below'))).toMatch(/doesn’t exist/);
  });

  test.each(['', '\n', '  \r\n'])('with the content %j is empty', (content) => {
    expect(of(file(content))).toMatch(/^The file \S+ of SMTP_URL_FILE is empty\. Save the secret in it\.$/);
  });

  test('with a second line is refused', () => {
    expect(of(file('smtp://host\nsmtp://other\n'))).toMatch(/has more than one line/);
  });

  test('that is a folder, a pipe or far too large is refused at once', () => {
    expect(of(folder)).toMatch(/^SMTP_URL_FILE isn’t a file: /);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(of(pipe)).toMatch(/^SMTP_URL_FILE isn’t a file: /);
    expect(of(file('x'.repeat(65_537)))).toMatch(/is larger than 65536 bytes/);
  });

  test('that the user of the server cannot read is named with the reason', () => {
    // /proc/self/mem has no page at 0, for any user: EIO; a plain file without rights is readable for root.
    const path = file('smtp://host');
    const unreadable = process.getuid?.() === 0 ? '/proc/self/mem' : path;
    if (unreadable === path) execFileSync('chmod', ['000', path]);
    expect(of(unreadable)).toMatch(
      /^We can’t read the file \S+ of SMTP_URL_FILE \(E[A-Z]+\)\. Allow the server’s user to read it/,
    );
  });

  test('is not looked at while its setting is blank', () => {
    expect(parseSettings({ SMTP_URL_FILE: ' ' })).toEqual(parseSettings({}));
  });
});
