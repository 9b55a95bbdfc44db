import { describe, expect, test } from 'vitest';
import { isLoopbackHost, parseSettings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };

describe('settings', () => {
  // proves: asvs-13.2.3
  test('have safe defaults', () => {
    expect(parseSettings({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      exposure: 'local',
      open_local: false,
      demo: true,
      reset_delivery: 'response',
      require_two_factor: 'nobody',
      totp_drift_steps: 1,
      retain_days: { scans: undefined, alerts: undefined, audit: undefined, chats: undefined },
      stop_notice_s: 0,
      stop_drain_s: 30,
      database_url: undefined,
      warnings: [],
    });
    expect(parseSettings({ PORT: ' ', HOST: '', ADMIN_EMAILS: ' , ' })).toEqual(parseSettings({}));
  });

  test.each([[{ HOST: '0.0.0.0' }], [{ HOST: '192.0.2.1' }], [{ PUBLIC_URL: 'https://safe.example.com' }]])(
    'an address that others reach makes the exposure public, which needs administrators: %j',
    (environment) => {
      expect(() => parseSettings(environment)).toThrow(/^ADMIN_EMAILS isn’t set\./);
      expect(parseSettings({ ...environment, ...PUBLIC, EXPOSURE: '' })).toMatchObject({
        exposure: 'public',
        demo: false,
        reset_delivery: 'outbox',
        admin_emails: ['boss@example.com'],
      });
    },
  );

  test('limits are set by name; in local exposure the default ones of a source are 20 times higher', () => {
    const minute = 60_000;
    const { limits } = parseSettings({ LIMITS: 'pair=3/1h, read.source=7/2s' });
    expect(limits.pair).toEqual({ count: 3, period_ms: 60 * minute });
    expect(limits['read.source']).toEqual({ count: 7, period_ms: 2_000 });
    expect(limits['sign_in.source']).toEqual({ count: 4_800, period_ms: minute });
    expect(limits.read).toEqual({ count: 3_000, period_ms: minute });
    expect(parseSettings(PUBLIC).limits['sign_in.source']).toEqual({ count: 240, period_ms: minute });
    expect(parseSettings(PUBLIC).limits.spray).toEqual({ count: 5, period_ms: 50_000 });
  });

  test('local exposure on such an address runs, with a warning', () => {
    const settings = parseSettings({ HOST: '0.0.0.0', EXPOSURE: 'local' });
    expect(settings.exposure).toBe('local');
    expect(settings.warnings).toHaveLength(1);
    expect(settings.open_local).toBe(true);
  });

  test('retention is in days, or for ever', () => {
    const { retain_days } = parseSettings({
      RETAIN_SCANS: '30',
      RETAIN_ALERTS: 'forever',
      RETAIN_AUDIT: ' 365 ',
      RETAIN_CHATS: '90',
    });
    expect(retain_days).toEqual({ scans: 30, alerts: undefined, audit: 365, chats: 90 });
  });

  test('sizes are in bytes or with a unit, times with one', () => {
    expect(parseSettings({})).toMatchObject({
      spool: { per_person: 4 * 1024 ** 3, all: 16 * 1024 ** 3 },
      disk_reserve: 512 * 1024 ** 2,
      upload_ms: 3_600_000,
    });
    const set = { SPOOL_PERSON_MAXIMUM: '100', SPOOL_MAXIMUM: '2T', DISK_RESERVE: '0', UPLOAD_TIME: '90s' };
    expect(parseSettings(set)).toMatchObject({
      spool: { per_person: 100, all: 2 * 1024 ** 4 },
      disk_reserve: 0,
      upload_ms: 90_000,
    });
  });

  test.each([
    ['http://shield.example.com', [expect.stringContaining('PUBLIC_URL isn’t https')]],
    ['https://shield.example.com', []],
  ])('public exposure at %s has its warnings', (PUBLIC_URL, warnings) => {
    expect(parseSettings({ ...PUBLIC, PUBLIC_URL }).warnings).toEqual(warnings);
  });

  const HEX = 'a1'.repeat(32);
  const KEY = `${'A'.repeat(43)}=`;

  test('signature feeds are read with their pins', () => {
    const SIGNATURE_FEEDS = `yara+https://example.com/rules.zip?a=1#sha256=${HEX.toUpperCase()}, sha256+http://127.0.0.1:8080/list.txt#ed25519=${KEY}`;
    expect(parseSettings({ SIGNATURE_FEEDS }).signature_feeds).toEqual([
      {
        kind: 'yara',
        url: 'https://example.com/rules.zip?a=1',
        pin: { kind: 'sha256', hex: HEX },
        strict: false,
        severity: 'alarm',
      },
      {
        kind: 'sha256',
        url: 'http://127.0.0.1:8080/list.txt',
        pin: { kind: 'ed25519', key: KEY },
        strict: false,
        severity: 'alarm',
      },
    ]);
    expect(
      parseSettings({ SIGNATURE_FEEDS: `yara+https://a.example/r.zip#tls&strict,sha256+https://a.example/l.csv#tls&note` })
        .signature_feeds,
    ).toEqual([
      { kind: 'yara', url: 'https://a.example/r.zip', pin: { kind: 'tls' }, strict: true, severity: 'alarm' },
      { kind: 'sha256', url: 'https://a.example/l.csv', pin: { kind: 'tls' }, strict: false, severity: 'note' },
    ]);
    expect(parseSettings({}).signature_feeds).toEqual([]);
  });

  test.each([
    ['https://example.com/rules.zip', 'part 1 ("https://example.com/rules.zip") must start with yara+, sha256+, or domains+'],
    ['yara+rules.zip', 'part 1 ("yara+rules.zip") has no address after yara+'],
    [`yara+http://example.com/r.zip#sha256=${HEX}`, 'must have an https:// address'],
    [`yara+ftp://example.com/r.zip#sha256=${HEX}`, 'must have an https:// address'],
    ['yara+https://example.com/r.zip', 'must end with its pin'],
    ['yara+https://example.com/r.zip#md5=00', 'must end with its pin'],
    ['yara+https://example.com/r.zip#strict', 'must end with its pin'],
    ['yara+https://example.com/r.zip#tls&loud', 'has "&loud" after its pin. Only &strict, &alarm, or &note can follow'],
    ['yara+https://example.com/r.zip#tls&note&alarm', 'cannot be both &alarm and &note'],
    ['yara+http://example.com/r.zip#tls', 'must have an https:// address'],
    ['yara+https://example.com/r.zip#sha256=00', 'needs 64 hex digits after #sha256='],
    ['sha256+https://example.com/l.txt#ed25519=AAAA', 'needs a public key of 32 bytes in base64'],
    [
      `sha256+https://example.com/l#sha256=${HEX},sha256+https://example.com/l#ed25519=${KEY}`,
      'part 2 ("sha256+https://example.com/l#ed25519=',
    ],
  ])('a signature feed that is wrong is named: %s', (SIGNATURE_FEEDS, sentence) => {
    expect(() => parseSettings({ SIGNATURE_FEEDS })).toThrow(SettingsError);
    expect(() => parseSettings({ SIGNATURE_FEEDS })).toThrow(sentence);
    expect(() => parseSettings({ SIGNATURE_FEEDS })).toThrow(/^SIGNATURE_FEEDS part \d \(.*\.$/);
  });

  test.each([
    ['', []],
    ['none', []],
    ['clamd://scanner', [{ host: 'scanner', port: 3310 }]],
    ['clamd://[2001:db8::1]:3311/', [{ host: '2001:db8::1', port: 3311 }]],
    ['clamd+unix:///run/clamav/clamd.ctl', [{ path: '/run/clamav/clamd.ctl' }]],
    [
      'clamd://a, clamd://b:1,clamd://a:3310',
      [
        { host: 'a', port: 3310 },
        { host: 'b', port: 1 },
      ],
    ],
  ])('the scanners of SCANNER_URL=%s', (url, scanners) => {
    const settings = parseSettings({ SCANNER_URL: url });
    expect(settings.scanners).toEqual(scanners);
    expect(settings.look_for_scanner).toBe(url === '');
  });

  test.each(['DATA_DIR', 'QUARANTINE_KEY_FILE', 'TWO_FACTOR_KEY_FILE', 'AUDIT_KEY_FILE', 'BACKUP_KEY_FILE'])(
    'a ~ in %s, which only a shell replaces, is no folder of that name',
    (name) => {
      for (const path of ['~', '~/palisade', '~anna/palisade'])
        expect(() => parseSettings({ [name]: path })).toThrow(
          `${name} must be a full path: only a shell replaces ~ (it is "${path}").`,
        );
      expect(() => parseSettings({ [name]: './~/palisade' })).not.toThrow();
    },
  );

  test.each([
    ['SMTP_URL', 'smtp://', 'must name a mail server, like smtp://user:password@host:587'],
    ['SMTP_URL', 'smtps:///path', 'must name a mail server, like smtp://user:password@host:587'],
    ['INBOX_IMAP_URL', 'imaps://', 'must name a mail server, like imaps://user:password@host'],
  ])('an address without a server is named: %s=%s', (name, url, sentence) => {
    expect(() => parseSettings({ SMTP_URL: 'smtp://localhost', [name]: url })).toThrow(`${name} ${sentence}`);
  });

  test.each([
    [{}, undefined],
    [{ SMTP_URL: 'smtp://mail.example.com', RESET_DELIVERY: 'outbox' }, undefined],
    [{ SMTP_URL: 'smtp://mail.example.com' }, 'no-reply@localhost'],
    [{ SMTP_URL: 'smtp://shield%40example.com:secret@mail.example.com' }, 'shield@example.com'],
    [{ SMTP_URL: 'smtp://user@mail.example.com', PUBLIC_URL: 'http://palisade.localhost:3000' }, 'no-reply@palisade.localhost'],
    [{ SMTP_URL: 'smtp://user@mail.example.com', MAIL_FROM: 'hello@example.com' }, 'hello@example.com'],
  ])('mails come from: %j', (environment, from) => {
    expect(parseSettings(environment).mail_server?.from).toBe(from);
  });

  test.each([
    [{ INBOX_IMAP_URL: 'imaps://help%40example.com:b@mail.example.com' }, 'help@example.com'],
    [{ INBOX_IMAP_URL: 'imap://account:b@localhost', INBOX_ADDRESS: 'answer-*@example.com' }, 'answer-*@example.com'],
  ])('answers are sent to: %j', (environment, address) => {
    expect(parseSettings({ SMTP_URL: 'smtp://localhost', ...environment }).inbox?.address).toBe(address);
  });

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['[::1]', true],
    ['palisade.localhost', true],
    ['0.0.0.0', false],
    ['localhost.example.com', false],
    ['127.0.0.1.example.com', false],
    ['10.0.0.1', false],
  ])('%s is a loopback host: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});
