import { expect, test } from 'vitest';
import { parseSettings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };

/** Settings that a server does not start with, and the one sentence that it says. */
const WRONG: readonly [Record<string, string>, string][] = [
  [{ PORT: '70000' }, 'PORT must be a port number from 0 to 65535 (it is "70000").'],
  [{ PORT: '3.5' }, 'PORT must be a port number from 0 to 65535 (it is "3.5").'],
  [{ RETAIN_SCANS: '0' }, 'RETAIN_SCANS must be "forever", or a whole number of days from 1 to 36500 (it is "0").'],
  [{ RETAIN_ALERTS: 'a month' }, 'RETAIN_ALERTS must be "forever", or a whole number of days from 1 to 36500 (it is "a month").'],
  [{ RETAIN_AUDIT: '1.5' }, 'RETAIN_AUDIT must be "forever", or a whole number of days from 1 to 36500 (it is "1.5").'],
  [{ RETAIN_CHATS: 'never' }, 'RETAIN_CHATS must be "forever", or a whole number of days from 1 to 36500 (it is "never").'],
  [{ STOP_DRAIN: '0' }, 'STOP_DRAIN must be a whole number of seconds from 1 to 600 (it is "0").'],
  [{ METRICS_PORT: '70000' }, 'METRICS_PORT must be a port number from 0 to 65535 (it is "70000").'],
  [{ METRICS_PORT: '3000' }, 'METRICS_PORT and PORT are both 3000. Set another METRICS_PORT, or unset it and set METRICS_TOKEN.'],
  [{ METRICS_HOST: '127.0.0.1' }, 'METRICS_HOST is set, but METRICS_PORT isn’t. Set both or neither.'],
  [
    { METRICS_HOST: '0.0.0.0', METRICS_PORT: '9464' },
    'Others can reach METRICS_HOST 0.0.0.0. Set METRICS_TOKEN (create one with openssl rand -hex 32), or unset METRICS_HOST.',
  ],
  [
    { METRICS_TOKEN: 'hush' },
    'METRICS_TOKEN must be 24 to 256 letters, digits, or any of -._~+/ (create one with openssl rand -hex 32).',
  ],
  [
    { METRICS_TOKEN: 'hush with blanks in it that are many' },
    'METRICS_TOKEN must be 24 to 256 letters, digits, or any of -._~+/ (create one with openssl rand -hex 32).',
  ],
  [{ STOP_NOTICE: '1000' }, 'STOP_NOTICE must be a whole number of seconds from 0 to 300 (it is "1000").'],
  [{ EXPOSURE: 'open' }, 'EXPOSURE must be "local" or "public" (it is "open").'],
  ...['https://example.com/palisade', 'https://example.com/?a=1', 'https://example.com/#a'].map(
    (PUBLIC_URL): [Record<string, string>, string] => [
      { PUBLIC_URL },
      `PUBLIC_URL must have no path, like https://palisade.example.com: the pages are served at the root of their host, and not below a path (it is "${PUBLIC_URL}").`,
    ],
  ),
  ...['0.0.0.0/0', '::/0', '10.0.0.0/8, 0.0.0.0/0'].map((TRUSTED_PROXIES): [Record<string, string>, string] => [
    { TRUSTED_PROXIES },
    `TRUSTED_PROXIES must not contain a network of all addresses (/0): any client could then name the address of its request (it is "${TRUSTED_PROXIES}").`,
  ]),
  [{ PUBLIC_URL: 'ftp://example.com' }, 'PUBLIC_URL must start with http:// or https:// (it is "ftp://example.com").'],
  [{ DATABASE_URL: 'mysql://localhost/x' }, 'DATABASE_URL must start with postgres://.'],
  [{ SMTP_URL: 'mail.example.com' }, 'SMTP_URL must start with smtp:// or smtps://.'],
  [{ SMTP_URL: 'smtp://shield:50%hush@mail.example.com' }, 'SMTP_URL must use %25 for a % in its account or password.'],
  [
    { DATABASE_URL: 'postgres://shield:50%hush@localhost/palisade' },
    'DATABASE_URL must use %25 for a % in its account or password.',
  ],
  [{ REDIS_URL: 'redis://:50%hush@localhost' }, 'REDIS_URL must use %25 for a % in its account or password.'],
  [{ MAIL_FROM: 'shield', SMTP_URL: 'smtp://localhost' }, 'MAIL_FROM must be an email address (it is "shield").'],
  [{ MAIL_FROM: 'shield@example.com' }, 'MAIL_FROM is set, but SMTP_URL isn’t. Set both or neither.'],
  [
    { SMTP_URL: 'smtp://localhost', INBOX_IMAP_URL: 'https://mail.example.com' },
    'INBOX_IMAP_URL must start with imap:// or imaps://.',
  ],
  [
    { INBOX_IMAP_URL: 'imaps://a%40example.com:b@mail.example.com' },
    'INBOX_IMAP_URL needs SMTP_URL. Set SMTP_URL, or unset INBOX_IMAP_URL.',
  ],
  [
    { SMTP_URL: 'smtp://localhost', INBOX_IMAP_URL: 'imaps://mail.example.com' },
    'INBOX_IMAP_URL has no account. Use imaps://user:password@host:993/INBOX.',
  ],
  [
    { SMTP_URL: 'smtp://localhost', INBOX_IMAP_URL: 'imaps://account:b@mail.example.com' },
    'Set INBOX_ADDRESS to the email address for replies, with at most 21 characters before the @. The INBOX_IMAP_URL account can’t be used.',
  ],
  [{ INBOX_ADDRESS: 'a@example.com' }, 'INBOX_ADDRESS is set, but INBOX_IMAP_URL isn’t. Set both or neither.'],
  [
    { INBOX_ADDRESS: `${'a'.repeat(22)}@example.com` },
    'INBOX_ADDRESS must be an email address with at most 21 characters before the @, where * stands for the conversation (it is "aaaaaaaaaaaaaaaaaaaaaa@example.com").',
  ],
  [
    { ADMIN_EMAILS: 'boss@example.com, boss' },
    'ADMIN_EMAILS must be a list of email addresses, separated by commas (it is "boss@example.com, boss").',
  ],
  [
    { TRUSTED_PROXIES: 'proxy' },
    'TRUSTED_PROXIES must be a list of IP addresses or networks (10.0.0.0/8), separated by commas (it is "proxy").',
  ],
  [{ DEMO: 'yes' }, 'DEMO must be "on" or "off" (it is "yes").'],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be "debug", "info", "warn", "error", or "silent" (it is "loud").'],
  [{ PALISADE_ENGINE: 'fast' }, 'PALISADE_ENGINE must be "native" or "wasm" (it is "fast").'],
  [{ REQUIRE_TWO_FACTOR: 'admins' }, 'REQUIRE_TWO_FACTOR must be "nobody", "staff", or "everyone" (it is "admins").'],
  [{ TOTP_DRIFT_STEPS: '2' }, 'TOTP_DRIFT_STEPS must be 0 or 1 (it is "2").'],
  [{ SPOOL_PERSON_MAXIMUM: '4 GB' }, 'SPOOL_PERSON_MAXIMUM must be a size, like 512M or 4G (it is "4 GB").'],
  [{ SPOOL_MAXIMUM: '-1' }, 'SPOOL_MAXIMUM must be a size, like 512M or 4G (it is "-1").'],
  [{ DISK_RESERVE: 'half' }, 'DISK_RESERVE must be a size, like 512M or 4G (it is "half").'],
  [{ UPLOAD_TIME: '0m' }, 'UPLOAD_TIME must be a time, like 30m or 1h (it is "0m").'],
  [{ UPLOAD_TIME: '60' }, 'UPLOAD_TIME must be a time, like 30m or 1h (it is "60").'],
  [{ RESET_DELIVERY: 'email' }, 'RESET_DELIVERY=email needs SMTP_URL, like smtp://user:password@host:587.'],
  [
    { ...PUBLIC, RESET_DELIVERY: 'response' },
    'In public exposure, RESET_DELIVERY=response would give reset tokens to strangers. Set it to "email" or "outbox".',
  ],
  [
    { ...PUBLIC, RESET_DELIVERY: '' },
    'SMTP_URL isn’t set. In public exposure, set it to your mail server (smtp://user:password@host:587), or set RESET_DELIVERY=outbox.',
  ],
  [
    { SCANNER_URL: 'localhost:3310' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "localhost:3310").',
  ],
  [
    { SCANNER_URL: 'clamd://' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://").',
  ],
  [
    { SCANNER_URL: 'clamd://localhost:0' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://localhost:0").',
  ],
  [
    { SCANNER_URL: 'clamd://localhost:99999' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://localhost:99999").',
  ],
  [
    { SCANNER_URL: 'clamd://localhost/run/clamd.sock' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://localhost/run/clamd.sock").',
  ],
  [
    { SCANNER_URL: 'clamd+unix://run/clamd.sock' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd+unix://run/clamd.sock").',
  ],
  [
    { SCANNER_URL: 'clamd+unix:///run/50%clamd.sock' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd+unix:///run/50%clamd.sock").',
  ],
  [
    { SCANNER_URL: 'clamd://localhost, http://localhost' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://localhost, http://localhost").',
  ],
  [
    { SCANNER_URL: 'clamd://localhost, none' },
    'SCANNER_URL must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas (it is "clamd://localhost, none").',
  ],
  [{ REDIS_URL: 'http://localhost' }, 'REDIS_URL must start with redis:// or rediss://.'],
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
  [{ LIMITS: 'pair=5' }, 'LIMITS must set pair as a count and a period from 1s to 7d, for example pair=5/1m.'],
  [{ LIMITS: 'pair=1/10m' }, 'LIMITS must set pair to a count of 2 or more.'],
  [{ LIMITS: 'read=0/1m' }, 'LIMITS must set read as a count and a period from 1s to 7d, for example read=3000/1m.'],
  [{ LIMITS: 'read=10/8d' }, 'LIMITS must set read as a count and a period from 1s to 7d, for example read=3000/1m.'],
  [
    { LIMITS: 'read=10/1m, write=-1/1m' },
    'LIMITS must set write as a count and a period from 1s to 7d, for example write=600/1m.',
  ],
  [{ PORT: '0x50' }, 'PORT must be a port number from 0 to 65535 (it is "0x50").'],
  [{ PORT: '1e3' }, 'PORT must be a port number from 0 to 65535 (it is "1e3").'],
  [{ PORT: '-1' }, 'PORT must be a port number from 0 to 65535 (it is "-1").'],
  [{ PORT: '80a' }, 'PORT must be a port number from 0 to 65535 (it is "80a").'],
  [{ DATABASE_POOL: '1' }, 'DATABASE_POOL must be a whole number of connections from 2 to 1000 (it is "1").'],
  [{ DATABASE_POOL: '0x10' }, 'DATABASE_POOL must be a whole number of connections from 2 to 1000 (it is "0x10").'],
  [{ DATABASE_TIMEOUT: '0' }, 'DATABASE_TIMEOUT must be a whole number of seconds from 1 to 60 (it is "0").'],
  [{ DATABASE_TIMEOUT: '4s' }, 'DATABASE_TIMEOUT must be a whole number of seconds from 1 to 60 (it is "4s").'],
  [{ STOP_DRAIN: '1e2' }, 'STOP_DRAIN must be a whole number of seconds from 1 to 600 (it is "1e2").'],
  [{ RETAIN_SCANS: '0x1e' }, 'RETAIN_SCANS must be "forever", or a whole number of days from 1 to 36500 (it is "0x1e").'],
  [{ METRICS_PORT: '0x2500' }, 'METRICS_PORT must be a port number from 0 to 65535 (it is "0x2500").'],
  [
    { EXPOSURE: 'public' },
    'ADMIN_EMAILS isn’t set. In public exposure, set it to the administrators’ emails, like ADMIN_EMAILS=you@example.com.',
  ],
  [
    { HOST: '0.0.0.0' },
    'ADMIN_EMAILS isn’t set. In public exposure, set it to the administrators’ emails, like ADMIN_EMAILS=you@example.com.',
  ],
  [{ PUBLIC_URL: 'safe.example.com' }, 'PUBLIC_URL must start with http:// or https:// (it is "safe.example.com").'],
  [
    { TURN_URL: 'turn.example.com', TURN_SECRET: '0123456789abcdef' },
    'TURN_URL must be turn:host:3478, turns:host:5349 (optionally ?transport=tcp), stun:host:3478, or a list of these, separated by commas (it is "turn.example.com").',
  ],
  [
    { TURN_URL: 'turn:turn.example.com:3478' },
    'TURN_URL is set, but TURN_SECRET isn’t. Set it to that server’s static-auth-secret.',
  ],
  [{ TURN_SECRET: '0123456789abcdef' }, 'TURN_SECRET is set, but TURN_URL isn’t. Set both or neither.'],
  [
    { TURN_URL: 'turn:turn.example.com', TURN_SECRET: 'short' },
    'TURN_SECRET must be 16 to 256 characters without spaces (create one with openssl rand -hex 32).',
  ],
  [{ LIVE_CHAT_URL: 'chat.example.com' }, 'LIVE_CHAT_URL must start with http:// or https:// (it is "chat.example.com").'],
  [
    { REMOTE_PORTAL_URL: 'javascript:alert(1)' },
    'REMOTE_PORTAL_URL must start with http:// or https:// (it is "javascript:alert(1)").',
  ],
  [
    { SIGNATURE_FEEDS: 'https://example.com/rules.zip' },
    'SIGNATURE_FEEDS part 1 ("https://example.com/rules.zip") must start with yara+, sha256+, or domains+, like yara+https://example.com/rules.tar.gz#sha256=<64 hex digits> (it is "https://example.com/rules.zip").',
  ],
  [
    { DNS_UPSTREAM: '9.9.9.9, dns.example.com' },
    'DNS_UPSTREAM must be a list of addresses (9.9.9.9, [2620:fe::fe]:53), tls://host, or https://host/path, separated by commas (it is "9.9.9.9, dns.example.com").',
  ],
  [
    { DNS_LOCAL_UPSTREAM: 'udp://192.168.1.1' },
    'DNS_LOCAL_UPSTREAM must be a list of addresses (9.9.9.9, [2620:fe::fe]:53), tls://host, or https://host/path, separated by commas (it is "udp://192.168.1.1").',
  ],
  [
    { DOMAIN_LISTS: 'https://example.com/list.txt' },
    'DOMAIN_LISTS must be a list of category+https://host/list.txt#name, separated by commas; categories are ads, adult, gambling, ways_around, and dangerous (it is "https://example.com/list.txt").',
  ],
  ...['0.0.0.0', '::', '192.0.2.1', '8.8.8.8:53', 'localhost', '192.168.1.2:0', '192.168.1.2:99999'].map(
    (DNS_LISTEN): [Record<string, string>, string] => [
      { DNS_LISTEN },
      `DNS_LISTEN must be one private address of this machine, like 192.168.1.2 or 192.168.1.2:53 (it is "${DNS_LISTEN}").`,
    ],
  ),
  [
    { DNS_TLS_HOST: '*.dns.example.com', DNS_TLS_CERT_FILE: '/a', DNS_TLS_KEY_FILE: '/b' },
    'DNS_TLS_HOST must be a host name, like dns.example.com; the certificate must be for *.dns.example.com (it is "*.dns.example.com").',
  ],
  ...[{ DNS_TLS_HOST: 'dns.example.com' }, { DNS_TLS_CERT_FILE: '/a' }, { DNS_TLS_CERT_FILE: '/a', DNS_TLS_KEY_FILE: '/b' }].map(
    (environment): [Record<string, string>, string] => [
      environment,
      'DNS over TLS needs DNS_TLS_HOST, DNS_TLS_CERT_FILE and DNS_TLS_KEY_FILE. Set all three or none.',
    ],
  ),
  [{ DNS_TLS_KEY_FILE: '~/key' }, 'DNS_TLS_KEY_FILE must be a full path: only a shell replaces ~ (it is "~/key").'],
  [
    { DNS_ADDRESSES: '192.0.2.1, server' },
    'DNS_ADDRESSES must be a list of this server’s fixed IP addresses, separated by commas (it is "192.0.2.1, server").',
  ],
  [{ UPLOAD_TIME: '1 hour' }, 'UPLOAD_TIME must be a time, like 30m or 1h (it is "1 hour").'],
  [{ INBOX_IMAP_URL: 'imap://a:b@h' }, 'INBOX_IMAP_URL needs SMTP_URL. Set SMTP_URL, or unset INBOX_IMAP_URL.'],
  [{ SMTP_URL: 'smpt://shield:hush@mail.example.com' }, 'SMTP_URL must start with smtp:// or smtps://.'],
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
  const others = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'USER',
    'PWD',
    'LANG',
    'TERM',
    'SHELL',
    'PGPORT',
    'NODE_ENV',
    'NODE_OPTIONS',
    'INVOCATION_ID',
    'TEST_DATABASE_URL',
  ];
  expect(parseSettings(Object.fromEntries(others.map((name) => [name, 'x']))).warnings).toEqual([]);
});
