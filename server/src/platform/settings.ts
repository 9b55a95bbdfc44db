import { join, resolve } from 'node:path';
import { canonicalEmail } from '@palisade/contract/email';
import type { Exposure } from '@palisade/contract/platform';
import { parseScannerUrls, type ScannerAddress } from '@palisade/scanner/scanner-url';
import { z } from 'zod';
import { parseStorageUrl, type S3Location, StorageUrlError } from './blobs/storage-url.ts';
import { type DnsSettings, dnsOf, dnsShape } from './dns-settings.ts';
import { type Limits, parseLimits } from './limits.ts';
import { misspeltNames } from './misspelt-names.ts';
import { SecretFileError, secretFileShape, withSecretFiles } from './secret-files.ts';
import {
  accountAddress,
  blankIsUnset,
  bytes,
  commaList,
  countOf,
  duration,
  emailAddress,
  keptFor,
  mailAddress,
  path,
  portNumber,
  proxyAddress,
  publicAddress,
  SECOND_MS,
  text,
  webAddress,
} from './setting-forms.ts';
import { SettingsError } from './settings-error.ts';
import { parseSignatureFeeds, type SignatureFeed } from './signature-feeds.ts';

/** The settings of a server, read once from the environment. Names and defaults are those of the table in docs/operating.md. */
export interface Settings {
  host: string;
  port: number;
  exposure: Exposure;
  /** Local exposure on an address that other machines may reach. */
  open_local: boolean;
  public_url: string | undefined;
  data_dir: string;
  database_url: string | undefined;
  /** Maximum number of connections to PostgreSQL. */
  database_pool: number;
  /** Total time that a request may wait for the database, in ms. */
  database_timeout_ms: number;
  /** Redis for limits shared by several servers; undefined: each server counts on its own. */
  redis_url: string | undefined;
  /** The store of kept files, shared by several servers; undefined: a folder of DATA_DIR. */
  storage: S3Location | undefined;
  /** Files of the keys for the quarantine, for the secrets of authenticator apps, for the audit log, and for backups; created if missing. */
  quarantine_key_file: string;
  two_factor_key_file: string;
  audit_key_file: string;
  backup_key_file: string;
  /** The file with this server's own note of the end of the audit log. */
  audit_witness_file: string;
  /** The accounts that must have a second factor; `staff` are support and administrators. */
  require_two_factor: 'nobody' | 'staff' | 'everyone';
  /** Number of 30 s steps before and after its own in which a code of an authenticator app is valid. */
  totp_drift_steps: number;
  admin_emails: readonly string[];
  trusted_proxies: readonly string[];
  live_chat_url: string | undefined;
  remote_portal_url: string | undefined;
  /** The servers that help two pages connect, as `turn:`, `turns:`, `stun:` and `stuns:` addresses, and the secret that TURN servers share with this server. */
  turn: { urls: readonly string[]; secret: string | undefined };
  demo: boolean;
  reset_delivery: 'response' | 'email' | 'outbox';
  /** Undefined: mails wait in the outbox. */
  mail_server: { url: string; from: string } | undefined;
  /**
   * The mailbox for replies to mails, and its address: a `*` in it, or the part after a `+`, names the conversation; `authserv_id` is the server whose
   * `Authentication-Results` are trusted. Undefined: replies are not read.
   */
  inbox: { url: string; address: string; authserv_id?: string } | undefined;
  /** The clamd pool besides the embedded engine; if empty, only the embedded engine. */
  scanners: readonly ScannerAddress[];
  /** clamd was neither configured nor excluded: use one found at a default location. */
  look_for_scanner: boolean;
  /** Sources of signatures besides the bundled pack. */
  signature_feeds: readonly SignatureFeed[];
  /** Maximum bytes in the spool, per person and in all. */
  spool: { per_person: number; all: number };
  /** Bytes of the disk that are kept free for the database. */
  disk_reserve: number;
  /** Maximum duration of an upload, in ms. */
  upload_ms: number;
  /** Rate limits by name. */
  limits: Limits;
  /** Number of days for which finished scans, closed alerts and entries of the audit log are kept; undefined: for ever. */
  retain_days: { scans: number | undefined; alerts: number | undefined; audit: number | undefined; chats: number | undefined };
  /** Seconds after a stop signal in which requests are still served while `/api/ready` reports the stop. */
  stop_notice_s: number;
  /** Seconds after that in which open requests may finish. */
  stop_drain_s: number;
  /** The address of the metrics; undefined without one. At least one of address and token is set. */
  metrics: { address: { host: string; port: number } | undefined; token: string | undefined } | undefined;
  dns: DnsSettings;
  log_level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Sentences logged at the start: settings that work but that an operator should know about. */
  warnings: readonly string[];
}

/** The conversation takes 42 characters of the address, after a +; the local part of an address has at most 64 (RFC 5321 section 4.5.3.1.1). */
const INBOX_LOCAL_MAXIMUM = 21;

const environmentSchema = z.object({
  HOST: text.default('127.0.0.1'),
  PORT: z.preprocess(blankIsUnset, portNumber.default(3000)),
  PUBLIC_URL: publicAddress,
  EXPOSURE: z.preprocess(blankIsUnset, z.enum(['local', 'public'], { error: 'must be "local" or "public"' }).optional()),
  DATA_DIR: path.default('./data'),
  QUARANTINE_KEY_FILE: path,
  TWO_FACTOR_KEY_FILE: path,
  AUDIT_KEY_FILE: path,
  BACKUP_KEY_FILE: path,
  REQUIRE_TWO_FACTOR: z.preprocess(
    blankIsUnset,
    z.enum(['nobody', 'staff', 'everyone'], { error: 'must be "nobody", "staff", or "everyone"' }).default('nobody'),
  ),
  TOTP_DRIFT_STEPS: z.preprocess(blankIsUnset, z.enum(['0', '1'], { error: 'must be 0 or 1' }).default('1').transform(Number)),
  DATABASE_URL: accountAddress(/^postgres(ql)?$/, 'must start with postgres://'),
  DATABASE_POOL: countOf('connections', 2, 1_000, 10),
  DATABASE_TIMEOUT: countOf('seconds', 1, 60, 4),
  REDIS_URL: accountAddress(/^rediss?$/, 'must start with redis:// or rediss://'),
  STORAGE_URL: text,
  STORAGE_SECRET_FILE: text,
  SMTP_URL: mailAddress(/^smtps?$/, 'must start with smtp:// or smtps://', 'smtp://user:password@host:587'),
  MAIL_FROM: z.preprocess(blankIsUnset, emailAddress('must be an email address').optional()),
  INBOX_IMAP_URL: mailAddress(/^imaps?$/, 'must start with imap:// or imaps://', 'imaps://user:password@host'),
  INBOX_ADDRESS: z.preprocess(
    blankIsUnset,
    z
      .string()
      .trim()
      .refine(
        (address) => canonicalEmail(address.replace('*', 'x')) !== undefined && address.lastIndexOf('@') <= INBOX_LOCAL_MAXIMUM,
        `must be an email address with at most ${INBOX_LOCAL_MAXIMUM} characters before the @, where * stands for the conversation`,
      )
      .optional(),
  ),
  INBOX_AUTHSERV_ID: z.preprocess(
    blankIsUnset,
    z
      .string()
      .trim()
      .regex(/^[\w.-]{1,253}$/, 'must be the provider’s name in Authentication-Results, like mx.example.com')
      .optional(),
  ),
  ADMIN_EMAILS: commaList.pipe(z.array(emailAddress('must be a list of email addresses, separated by commas'))),
  TRUSTED_PROXIES: commaList.pipe(z.array(proxyAddress)),
  SCANNER_URL: commaList.transform((urls, context) => {
    if (urls.length === 1 && urls[0] === 'none') return { scanners: [], look_for_scanner: false };
    const scanners = parseScannerUrls(urls);
    if (scanners !== undefined) return { scanners, look_for_scanner: scanners.length === 0 };
    context.addIssue(
      'must be none, clamd://host:3310, clamd+unix:///path/to/clamd.sock, or a list of these, separated by commas',
    );
    return z.NEVER;
  }),
  LIVE_CHAT_URL: webAddress,
  REMOTE_PORTAL_URL: webAddress,
  TURN_URL: commaList.pipe(
    z.array(
      z
        .string()
        .regex(
          /^(turns?|stuns?):([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?(\?transport=(udp|tcp))?$/,
          'must be turn:host:3478, turns:host:5349 (optionally ?transport=tcp), stun:host:3478, or a list of these, separated by commas',
        ),
    ),
  ),
  TURN_SECRET: z.preprocess(
    blankIsUnset,
    z
      .string()
      .regex(/^\S{16,256}$/, 'must be 16 to 256 characters without spaces (create one with openssl rand -hex 32)')
      .optional(),
  ),
  DEMO: z.preprocess(blankIsUnset, z.enum(['on', 'off'], { error: 'must be "on" or "off"' }).optional()),
  RESET_DELIVERY: z.preprocess(
    blankIsUnset,
    z.enum(['response', 'email', 'outbox'], { error: 'must be "response", "email", or "outbox"' }).optional(),
  ),
  SIGNATURE_FEEDS: commaList.transform((list, context) => {
    try {
      return parseSignatureFeeds(list, isLoopbackHost);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  }),
  ...dnsShape,
  LIMITS: commaList,
  RETAIN_SCANS: keptFor,
  RETAIN_ALERTS: keptFor,
  RETAIN_AUDIT: keptFor,
  RETAIN_CHATS: keptFor,
  STOP_NOTICE: countOf('seconds', 0, 300, 0),
  STOP_DRAIN: countOf('seconds', 1, 600, 30),
  SPOOL_PERSON_MAXIMUM: bytes('4G'),
  SPOOL_MAXIMUM: bytes('16G'),
  DISK_RESERVE: bytes('512M'),
  UPLOAD_TIME: duration('1h'),
  METRICS_PORT: z.preprocess(blankIsUnset, portNumber.optional()),
  METRICS_HOST: text,
  // Must fit a header as a bearer token (RFC 6750 section 2.1), and be hard to guess.
  METRICS_TOKEN: z.preprocess(
    blankIsUnset,
    z
      .string()
      .regex(
        /^[\w.~+/-]{24,256}=*$/,
        'must be 24 to 256 letters, digits, or any of -._~+/ (create one with openssl rand -hex 32)',
      )
      .optional(),
  ),
  LOG_LEVEL: z.preprocess(
    blankIsUnset,
    z
      .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'must be "debug", "info", "warn", "error", or "silent"' })
      .default('warn'),
  ),
  /** Used by the processes that compile rules (scanner/src/yara/choose-engine.ts); only validated here. */
  PALISADE_ENGINE: z.preprocess(blankIsUnset, z.enum(['native', 'wasm'], { error: 'must be "native" or "wasm"' }).optional()),
  ...secretFileShape,
});

/** Settings that may contain a password: their faults are reported without their values. */
const WITH_CREDENTIALS = new Set(['DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'INBOX_IMAP_URL', 'METRICS_TOKEN', 'TURN_SECRET']);

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether a host name or address can only be reached from the machine itself (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3). */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

function limitsOf(entries: readonly string[], exposure: Exposure): Limits {
  try {
    return parseLimits(entries, exposure);
  } catch (error) {
    throw new SettingsError(`LIMITS ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** A relay requires the secret; a secret without a relay is a configuration mistake. */
function turnOf(urls: readonly string[], secret: string | undefined): Settings['turn'] {
  const hasRelay = urls.some((url) => url.startsWith('turn'));
  if (hasRelay && secret === undefined)
    throw new SettingsError('TURN_URL is set, but TURN_SECRET isn’t. Set it to that server’s static-auth-secret.');
  if (!hasRelay && secret !== undefined) throw new SettingsError('TURN_SECRET is set, but TURN_URL isn’t. Set both or neither.');
  return { urls, secret };
}

function storageOf(url: string | undefined, secret_file: string | undefined): S3Location | undefined {
  if (url === undefined) {
    if (secret_file === undefined) return undefined;
    throw new SettingsError('STORAGE_SECRET_FILE is set, but STORAGE_URL isn’t. Set both or neither.');
  }
  try {
    return parseStorageUrl(url, secret_file === undefined ? undefined : resolve(secret_file));
  } catch (error) {
    if (!(error instanceof StorageUrlError)) throw error;
    throw new SettingsError(`STORAGE_URL ${error.message}.`);
  }
}

/** The default sender of mails: the mail account's own address, else one at the public host. */
function senderOf(smtp_url: string, public_url: string | undefined): string {
  const account = canonicalEmail(decodeURIComponent(new URL(smtp_url).username));
  return account ?? `no-reply@${public_url === undefined ? 'localhost' : new URL(public_url).hostname}`;
}

/** The mailbox for replies to mails; by default replies are sent to the account's own address. */
function inboxOf(
  values: {
    INBOX_IMAP_URL?: string | undefined;
    INBOX_ADDRESS?: string | undefined;
    INBOX_AUTHSERV_ID?: string | undefined;
  },
  sends: boolean,
): Settings['inbox'] {
  const { INBOX_IMAP_URL: url, INBOX_ADDRESS: set, INBOX_AUTHSERV_ID: authserv_id } = values;
  if (url === undefined) {
    if (authserv_id !== undefined)
      throw new SettingsError('INBOX_AUTHSERV_ID is set, but INBOX_IMAP_URL isn’t. Set both or neither.');
    if (set === undefined) return undefined;
    throw new SettingsError('INBOX_ADDRESS is set, but INBOX_IMAP_URL isn’t. Set both or neither.');
  }
  if (!sends) throw new SettingsError('INBOX_IMAP_URL needs SMTP_URL. Set SMTP_URL, or unset INBOX_IMAP_URL.');
  const { username, password } = new URL(url);
  if (username === '' || password === '')
    throw new SettingsError('INBOX_IMAP_URL has no account. Use imaps://user:password@host:993/INBOX.');
  const address = set ?? canonicalEmail(decodeURIComponent(username));
  if (address === undefined || address.lastIndexOf('@') > INBOX_LOCAL_MAXIMUM)
    throw new SettingsError(
      `Set INBOX_ADDRESS to the email address for replies, with at most ${INBOX_LOCAL_MAXIMUM} characters before the @. The INBOX_IMAP_URL account can’t be used.`,
    );
  return { url, address, ...(authserv_id !== undefined && { authserv_id }) };
}

/** The address of the metrics, which is never open without a token to other machines. */
function metricsOf(values: {
  PORT: number;
  METRICS_PORT?: number | undefined;
  METRICS_HOST?: string | undefined;
  METRICS_TOKEN?: string | undefined;
}): Settings['metrics'] {
  const { PORT, METRICS_PORT: port, METRICS_HOST, METRICS_TOKEN: token } = values;
  if (port === undefined) {
    if (METRICS_HOST !== undefined) throw new SettingsError('METRICS_HOST is set, but METRICS_PORT isn’t. Set both or neither.');
    return token === undefined ? undefined : { address: undefined, token };
  }
  if (port === PORT && port !== 0)
    throw new SettingsError(
      `METRICS_PORT and PORT are both ${port}. Set another METRICS_PORT, or unset it and set METRICS_TOKEN.`,
    );
  const host = METRICS_HOST ?? '127.0.0.1';
  if (token === undefined && !isLoopbackHost(host))
    throw new SettingsError(
      `Others can reach METRICS_HOST ${host}. Set METRICS_TOKEN (create one with openssl rand -hex 32), or unset METRICS_HOST.`,
    );
  return { address: { host, port }, token };
}

/** The environment with secrets read from their files. @throws SettingsError */
function secretsOf(environment: Readonly<Record<string, string | undefined>>) {
  try {
    return withSecretFiles(environment);
  } catch (error) {
    if (error instanceof SecretFileError) throw new SettingsError(error.message);
    throw error;
  }
}

/**
 * Parses the environment, and reads the secrets that its `..._FILE` settings name.
 * @throws SettingsError that names the first bad variable and a right value.
 */
export function parseSettings(given: Readonly<Record<string, string | undefined>>): Settings {
  const environment = secretsOf(given);
  const parsed = environmentSchema.safeParse(environment);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0] ?? 'environment');
    const value = WITH_CREDENTIALS.has(name) ? '' : ` (it is ${JSON.stringify(environment[name] ?? '')})`;
    throw new SettingsError(`${name} ${issue?.message ?? 'has the wrong form'}${value}.`);
  }
  const values = parsed.data;
  const local =
    isLoopbackHost(values.HOST) && (values.PUBLIC_URL === undefined || isLoopbackHost(new URL(values.PUBLIC_URL).hostname));
  const exposure = values.EXPOSURE ?? (local ? 'local' : 'public');
  const warnings = misspeltNames(Object.keys(environment), Object.keys(environmentSchema.shape)).map(
    ({ name, known }) => `${name} isn’t a Palisade setting. Did you mean ${known}?`,
  );
  const open_local = exposure === 'local' && !local;
  if (open_local) {
    warnings.push('EXPOSURE=local, but others may reach this address. The first person to register becomes the administrator.');
  }
  if (exposure === 'public') {
    if (values.PUBLIC_URL !== undefined && new URL(values.PUBLIC_URL).protocol !== 'https:') {
      warnings.push('PUBLIC_URL isn’t https, so others can read passwords and files. Add a proxy with TLS.');
    }
    if (values.ADMIN_EMAILS.length === 0) {
      throw new SettingsError(
        'ADMIN_EMAILS isn’t set. In public exposure, set it to the administrators’ emails, like ADMIN_EMAILS=you@example.com.',
      );
    }
    if (values.RESET_DELIVERY === 'response') {
      throw new SettingsError(
        'In public exposure, RESET_DELIVERY=response would give reset tokens to strangers. Set it to "email" or "outbox".',
      );
    }
    if (values.SMTP_URL === undefined && values.RESET_DELIVERY !== 'outbox') {
      throw new SettingsError(
        'SMTP_URL isn’t set. In public exposure, set it to your mail server (smtp://user:password@host:587), or set RESET_DELIVERY=outbox.',
      );
    }
  }
  const storage = storageOf(values.STORAGE_URL, values.STORAGE_SECRET_FILE);
  if (storage?.origin.startsWith('http:') && !isLoopbackHost(new URL(storage.origin).hostname)) {
    warnings.push('STORAGE_URL has tls=0. Files are encrypted, but an attacker on the network can delete or delay them.');
  }
  if (values.RESET_DELIVERY === 'email' && values.SMTP_URL === undefined) {
    throw new SettingsError('RESET_DELIVERY=email needs SMTP_URL, like smtp://user:password@host:587.');
  }
  if (values.MAIL_FROM !== undefined && values.SMTP_URL === undefined) {
    throw new SettingsError('MAIL_FROM is set, but SMTP_URL isn’t. Set both or neither.');
  }
  const mail_server =
    values.SMTP_URL === undefined || values.RESET_DELIVERY === 'outbox'
      ? undefined
      : { url: values.SMTP_URL, from: values.MAIL_FROM ?? senderOf(values.SMTP_URL, values.PUBLIC_URL) };
  return {
    host: values.HOST,
    port: values.PORT,
    exposure,
    open_local,
    public_url: values.PUBLIC_URL,
    data_dir: resolve(values.DATA_DIR),
    database_url: values.DATABASE_URL,
    database_pool: values.DATABASE_POOL,
    database_timeout_ms: values.DATABASE_TIMEOUT * SECOND_MS,
    redis_url: values.REDIS_URL,
    storage,
    quarantine_key_file: resolve(values.QUARANTINE_KEY_FILE ?? join(values.DATA_DIR, 'keys', 'quarantine.key')),
    two_factor_key_file: resolve(values.TWO_FACTOR_KEY_FILE ?? join(values.DATA_DIR, 'keys', 'two-factor.key')),
    audit_key_file: resolve(values.AUDIT_KEY_FILE ?? join(values.DATA_DIR, 'keys', 'audit.key')),
    backup_key_file: resolve(values.BACKUP_KEY_FILE ?? join(values.DATA_DIR, 'keys', 'backup.key')),
    audit_witness_file: resolve(join(values.DATA_DIR, 'keys', 'audit.head')),
    require_two_factor: values.REQUIRE_TWO_FACTOR,
    totp_drift_steps: values.TOTP_DRIFT_STEPS,
    admin_emails: values.ADMIN_EMAILS,
    trusted_proxies: values.TRUSTED_PROXIES,
    live_chat_url: values.LIVE_CHAT_URL,
    remote_portal_url: values.REMOTE_PORTAL_URL,
    turn: turnOf(values.TURN_URL, values.TURN_SECRET),
    demo: values.DEMO === undefined ? exposure === 'local' : values.DEMO === 'on',
    reset_delivery: values.RESET_DELIVERY ?? (exposure === 'local' ? 'response' : 'email'),
    mail_server,
    inbox: inboxOf(values, mail_server !== undefined),
    ...values.SCANNER_URL,
    signature_feeds: values.SIGNATURE_FEEDS,
    spool: { per_person: values.SPOOL_PERSON_MAXIMUM, all: values.SPOOL_MAXIMUM },
    disk_reserve: values.DISK_RESERVE,
    upload_ms: values.UPLOAD_TIME,
    limits: limitsOf(values.LIMITS, exposure),
    retain_days: {
      scans: values.RETAIN_SCANS,
      alerts: values.RETAIN_ALERTS,
      audit: values.RETAIN_AUDIT,
      chats: values.RETAIN_CHATS,
    },
    stop_notice_s: values.STOP_NOTICE,
    stop_drain_s: values.STOP_DRAIN,
    metrics: metricsOf(values),
    dns: dnsOf(values),
    log_level: values.LOG_LEVEL,
    warnings,
  };
}
