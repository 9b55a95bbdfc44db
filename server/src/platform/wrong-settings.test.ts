import { expect, test } from 'vitest';
import { parseSettings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };

type Wrong = [environment: Record<string, string>, sentence: string];

/** Values of one setting, each refused by the same rule, which the sentence says with the value. */
const refused = (name: string, rule: string, ...values: string[]): Wrong[] =>
  values.map((value) => [{ [name]: value }, `${name} must ${rule} (it is "${value}").`]);
const PORT = 'be a port number from 0 to 65535';
const DAYS = 'be "forever", or a whole number of days from 1 to 36500';
const SIZE = 'be a size, like 512M or 4G';
const TIME = 'be a time, like 30m or 1h';
const NAME_SERVERS = 'be a list of addresses (9.9.9.9, [2620:fe::fe]:53), tls://host, or https://host/path, separated by commas';
const TOKEN = 'METRICS_TOKEN must be 24 to 256 letters, digits, or any of -._~+/ (create one with openssl rand -hex 32).';
const NO_ADMINISTRATOR =
  'ADMIN_EMAILS isn’t set. In public exposure, set it to the administrators’ emails, like ADMIN_EMAILS=you@example.com.';
const DNS_TLS = 'DNS over TLS needs DNS_TLS_HOST, DNS_TLS_CERT_FILE and DNS_TLS_KEY_FILE. Set all three or none.';
const limit = (name: string, example: string) =>
  `LIMITS must set ${name} as a count and a period from 1s to 7d, for example ${name}=${example}.`;

/** Settings that a server does not start with, and the one sentence that it says. */
const WRONG: readonly Wrong[] = [
  ...refused('PORT', PORT, '70000', '3.5', '0x50', '1e3', '-1', '80a'),
  ...refused('METRICS_PORT', PORT, '70000', '0x2500'),
  ...refused('RETAIN_SCANS', DAYS, '0', '0x1e'),
  ...refused('RETAIN_ALERTS', DAYS, 'a month'),
  ...refused('RETAIN_AUDIT', DAYS, '1.5'),
  ...refused('RETAIN_CHATS', DAYS, 'never'),
  ...refused('STOP_DRAIN', 'be a whole number of seconds from 1 to 600', '0', '1e2'),
  ...refused('STOP_NOTICE', 'be a whole number of seconds from 0 to 300', '1000'),
  ...refused('DATABASE_POOL', 'be a whole number of connections from 2 to 1000', '1', '0x10'),
  ...refused('DATABASE_TIMEOUT', 'be a whole number of seconds from 1 to 60', '0', '4s'),
  ...refused('EXPOSURE', 'be "local" or "public"', 'open'),
  ...refused('DEMO', 'be "on" or "off"', 'yes'),
  ...refused('LOG_LEVEL', 'be "debug", "info", "warn", "error", or "silent"', 'loud'),
  ...refused('PALISADE_ENGINE', 'be "native" or "wasm"', 'fast'),
  ...refused('REQUIRE_TWO_FACTOR', 'be "nobody", "staff", or "everyone"', 'admins'),
  ...refused('TOTP_DRIFT_STEPS', 'be 0 or 1', '2'),
  ...refused('SPOOL_PERSON_MAXIMUM', SIZE, '4 GB'),
  ...refused('SPOOL_MAXIMUM', SIZE, '-1'),
  ...refused('DISK_RESERVE', SIZE, 'half'),
  ...refused('UPLOAD_TIME', TIME, '0m', '60', '1 hour'),
  ...refused('PUBLIC_URL', 'start with http:// or https://', 'ftp://example.com', 'safe.example.com'),
  ...refused(
    'PUBLIC_URL',
    'have no path, like https://palisade.example.com: the pages are served at the root of their host, and not below a path',
    ...['https://example.com/palisade', 'https://example.com/?a=1', 'https://example.com/#a'],
  ),
  ...refused('LIVE_CHAT_URL', 'start with http:// or https://', 'chat.example.com'),
  ...refused('REMOTE_PORTAL_URL', 'start with http:// or https://', 'javascript:alert(1)'),
  ...refused(
    'TRUSTED_PROXIES',
    'not contain a network of all addresses (/0): any client could then name the address of its request',
    ...['0.0.0.0/0', '::/0', '10.0.0.0/8, 0.0.0.0/0'],
  ),
  ...refused('TRUSTED_PROXIES', 'be a list of IP addresses or networks (10.0.0.0/8), separated by commas', 'proxy'),
  ...refused('ADMIN_EMAILS', 'be a list of email addresses, separated by commas', 'boss@example.com, boss'),
  ...refused(
    'INBOX_ADDRESS',
    'be an email address with at most 21 characters before the @, where * stands for the conversation',
    `${'a'.repeat(22)}@example.com`,
  ),
  ...refused(
    'SCANNER_URL',
    'be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas',
    ...['localhost:3310', 'clamd://', 'clamd://localhost:0', 'clamd://localhost:99999', 'clamd://localhost/run/clamd.sock'],
    ...['clamd+unix://run/clamd.sock', 'clamd+unix:///run/50%clamd.sock', 'clamd://localhost, http://localhost'],
    'clamd://localhost, none',
  ),
  ...refused('DNS_UPSTREAM', NAME_SERVERS, '9.9.9.9, dns.example.com'),
  ...refused('DNS_LOCAL_UPSTREAM', NAME_SERVERS, 'udp://192.168.1.1'),
  ...refused(
    'DOMAIN_LISTS',
    'be a list of category+https://host/list.txt#name, separated by commas; categories are ads, adult, gambling, ways_around, and dangerous',
    'https://example.com/list.txt',
  ),
  ...refused(
    'DNS_LISTEN',
    'be one private address of this machine, like 192.168.1.2 or 192.168.1.2:53',
    ...['0.0.0.0', '::', '192.0.2.1', '8.8.8.8:53', 'localhost', '192.168.1.2:0', '192.168.1.2:99999'],
  ),
  ...refused('DNS_TLS_KEY_FILE', 'be a full path: only a shell replaces ~', '~/key'),
  ...refused('DNS_ADDRESSES', 'be a list of this server’s fixed IP addresses, separated by commas', '192.0.2.1, server'),
  [{ METRICS_PORT: '3000' }, 'METRICS_PORT and PORT are both 3000. Set another METRICS_PORT, or unset it and set METRICS_TOKEN.'],
  [{ METRICS_HOST: '127.0.0.1' }, 'METRICS_HOST is set, but METRICS_PORT isn’t. Set both or neither.'],
  [
    { METRICS_HOST: '0.0.0.0', METRICS_PORT: '9464' },
    'Others can reach METRICS_HOST 0.0.0.0. Set METRICS_TOKEN (create one with openssl rand -hex 32), or unset METRICS_HOST.',
  ],
  [{ METRICS_TOKEN: 'hush' }, TOKEN],
  [{ METRICS_TOKEN: 'hush with blanks in it that are many' }, TOKEN],
  [{ DATABASE_URL: 'mysql://localhost/x' }, 'DATABASE_URL must start with postgres://.'],
  [{ DATABASE_URL: 'postgres://shield:50%hush@h/palisade' }, 'DATABASE_URL must use %25 for a % in its account or password.'],
  [{ SMTP_URL: 'mail.example.com' }, 'SMTP_URL must start with smtp:// or smtps://.'],
  [{ SMTP_URL: 'smpt://shield:hush@mail.example.com' }, 'SMTP_URL must start with smtp:// or smtps://.'],
  [{ SMTP_URL: 'smtp://shield:50%hush@mail.example.com' }, 'SMTP_URL must use %25 for a % in its account or password.'],
  [{ REDIS_URL: 'http://localhost' }, 'REDIS_URL must start with redis:// or rediss://.'],
  [{ REDIS_URL: 'redis://:50%hush@localhost' }, 'REDIS_URL must use %25 for a % in its account or password.'],
  [{ MAIL_FROM: 'shield', SMTP_URL: 'smtp://localhost' }, 'MAIL_FROM must be an email address (it is "shield").'],
  [{ MAIL_FROM: 'shield@example.com' }, 'MAIL_FROM is set, but SMTP_URL isn’t. Set both or neither.'],
  [{ SMTP_URL: 'smtp://h', INBOX_IMAP_URL: 'https://example.com' }, 'INBOX_IMAP_URL must start with imap:// or imaps://.'],
  [{ INBOX_IMAP_URL: 'imap://a:b@h' }, 'INBOX_IMAP_URL needs SMTP_URL. Set SMTP_URL, or unset INBOX_IMAP_URL.'],
  [
    { SMTP_URL: 'smtp://localhost', INBOX_IMAP_URL: 'imaps://mail.example.com' },
    'INBOX_IMAP_URL has no account. Use imaps://user:password@host:993/INBOX.',
  ],
  [
    { SMTP_URL: 'smtp://localhost', INBOX_IMAP_URL: 'imaps://account:b@mail.example.com' },
    'Set INBOX_ADDRESS to the email address for replies, with at most 21 characters before the @. The INBOX_IMAP_URL account can’t be used.',
  ],
  [{ INBOX_ADDRESS: 'a@example.com' }, 'INBOX_ADDRESS is set, but INBOX_IMAP_URL isn’t. Set both or neither.'],
  [{ RESET_DELIVERY: 'email' }, 'RESET_DELIVERY=email needs SMTP_URL, like smtp://user:password@host:587.'],
  [
    { ...PUBLIC, RESET_DELIVERY: 'response' },
    'In public exposure, RESET_DELIVERY=response would give reset tokens to strangers. Set it to "email" or "outbox".',
  ],
  [
    { ...PUBLIC, RESET_DELIVERY: '' },
    'SMTP_URL isn’t set. In public exposure, set it to your mail server (smtp://user:password@host:587), or set RESET_DELIVERY=outbox.',
  ],
  [{ STORAGE_URL: 's3://key:hush@localhost' }, 'STORAGE_URL must name a bucket after the host: s3://key:secret@host/bucket.'],
  [
    { STORAGE_URL: 's3://key@localhost/bucket' },
    'STORAGE_URL has no secret: add it after the key (s3://key:secret@host/bucket), or set STORAGE_SECRET_FILE.',
  ],
  [
    { STORAGE_URL: 's3://key:hush@localhost/bucket', STORAGE_SECRET_FILE: '/run/secret' },
    'STORAGE_URL has a secret, and STORAGE_SECRET_FILE is set too: remove one of them.',
  ],
  [{ STORAGE_SECRET_FILE: '/run/secret' }, 'STORAGE_SECRET_FILE is set, but STORAGE_URL isn’t. Set both or neither.'],
  [
    { LIMITS: 'pairs=5/10m' },
    'LIMITS has no limit "pairs". Use one of: pair, spray, distributed, sign_in.source, recovery, recovery.source, register.source, letters, letters.asked, letters.reset, read, read.source, write, write.source, upload, upload.source, expensive, expensive.source, admin, admin.source, scam_check, sockets.source, document.source.',
  ],
  [{ LIMITS: 'pair=5' }, limit('pair', '5/1m')],
  [{ LIMITS: 'pair=1/10m' }, 'LIMITS must set pair to a count of 2 or more.'],
  [{ LIMITS: 'read=0/1m' }, limit('read', '3000/1m')],
  [{ LIMITS: 'read=10/8d' }, limit('read', '3000/1m')],
  [{ LIMITS: 'read=10/1m, write=-1/1m' }, limit('write', '600/1m')],
  [{ EXPOSURE: 'public' }, NO_ADMINISTRATOR],
  [{ HOST: '0.0.0.0' }, NO_ADMINISTRATOR],
  [
    { TURN_URL: 'turn.example.com', TURN_SECRET: '0123456789abcdef' },
    'TURN_URL must be turn:host:3478, turns:host:5349 (optionally ?transport=tcp), stun:host:3478, or a list of these, separated by commas (it is "turn.example.com").',
  ],
  [{ TURN_URL: 'turn:h:3478' }, 'TURN_URL is set, but TURN_SECRET isn’t. Set it to that server’s static-auth-secret.'],
  [{ TURN_SECRET: '0123456789abcdef' }, 'TURN_SECRET is set, but TURN_URL isn’t. Set both or neither.'],
  [
    { TURN_URL: 'turn:turn.example.com', TURN_SECRET: 'short' },
    'TURN_SECRET must be 16 to 256 characters without spaces (create one with openssl rand -hex 32).',
  ],
  [
    { SIGNATURE_FEEDS: 'https://example.com/rules.zip' },
    'SIGNATURE_FEEDS part 1 ("https://example.com/rules.zip") must start with yara+, sha256+, or domains+, like yara+https://example.com/rules.tar.gz#sha256=<64 hex digits> (it is "https://example.com/rules.zip").',
  ],
  [
    { DNS_TLS_HOST: '*.dns.example.com', DNS_TLS_CERT_FILE: '/a', DNS_TLS_KEY_FILE: '/b' },
    'DNS_TLS_HOST must be a host name, like dns.example.com; the certificate must be for *.dns.example.com (it is "*.dns.example.com").',
  ],
  [{ DNS_TLS_HOST: 'dns.example.com' }, DNS_TLS],
  [{ DNS_TLS_CERT_FILE: '/a' }, DNS_TLS],
  [{ DNS_TLS_CERT_FILE: '/a', DNS_TLS_KEY_FILE: '/b' }, DNS_TLS],
];

// proves: asvs-1.2.2
test.each(WRONG)('%j is refused in one sentence', (environment, sentence) => {
  expect(() => parseSettings(environment)).toThrow(SettingsError);
  expect(() => parseSettings(environment)).toThrow(new SettingsError(sentence));
  expect(sentence).not.toContain('hush');
});

test('a number is digits alone, with blanks around it', () => {
  expect(parseSettings({ PORT: ' 80 ', DATABASE_POOL: '010' })).toMatchObject({ port: 80, database_pool: 10 });
});

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATA_DIRR', 'DATA_DIR'],
  ['PROT', 'PORT'],
  ['log_level', 'LOG_LEVEL'],
  ['STOP_DRIAN', 'STOP_DRAIN'],
  ['SCANER_URLS', 'SCANNER_URL'],
])('%s is warned about: %s was meant', (name, meant) => {
  expect(parseSettings({ [name]: 'x' }).warnings).toEqual([`${name} isn’t a Palisade setting. Did you mean ${meant}?`]);
});

test('variables of other programs are not warned about', () => {
  const others = 'PATH HOME HOSTNAME USER PWD LANG TERM SHELL PGPORT NODE_ENV NODE_OPTIONS INVOCATION_ID TEST_DATABASE_URL'.split(
    ' ',
  );
  expect(parseSettings(Object.fromEntries(others.map((name) => [name, 'x']))).warnings).toEqual([]);
});
