import { setTimeout as pause } from 'node:timers/promises';
import type { PageQuery } from '@palisade/contract/fields';
import { formatList } from '@palisade/contract/intl';
import type { Mail as MailRecord } from '@palisade/contract/mail';
import { shownEmail } from '@palisade/contract/shown-email';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import type { Transporter } from 'nodemailer';
import { inBatches } from './batches.ts';
import { logFailure } from './database-patience.ts';
import { newId } from './id.ts';
import { type InstallationTables, readProvider } from './installation.ts';
import { FOOTER, type Look, mailPage, readLook } from './mail-page.ts';
import { mailOf, PRIORITIES, placeAt } from './mail-record.ts';
import type { PersonalTable } from './personal-data.ts';
import { refuse } from './platform.refusals.ts';
import { Problem } from './problem.ts';

export interface MailTables {
  mails: {
    id: string;
    recipient: string;
    subject: string;
    /** Null once it was sent. */
    text: string | null;
    created_at: string;
    sent_at: string | null;
    attempts: number;
    last_error: string | null;
    /** When it is next given to the mail server; null for never. */
    next_attempt_at: string | null;
    /** 1: deleted once it was sent or given up. */
    leaves_no_trace: number;
    /** 0 is the most urgent, see `PRIORITIES`. */
    priority: number;
    /** The Reply-To address, if it is not the sender's; null once it was sent: the address authorizes its holder to answer. */
    reply_to: string | null;
  };
}

// A waiting text may contain a token; so may a Reply-To address.
export const MAIL_PERSONAL: readonly PersonalTable[] = [
  { table: 'mails', column: 'recipient', holds: 'email', withheld: ['text', 'leaves_no_trace', 'priority', 'reply_to'] },
];

/** A letter in plain text. `lines` are its paragraphs; greeting and footer are added. */
interface Letter {
  recipient: string;
  /** Without the provider's name, which is prepended. */
  subject: string;
  lines: readonly string[];
  /** The address at which replies are read. */
  reply_to?: string;
  /** `notice` by default. */
  priority?: (typeof PRIORITIES)[number];
  /** The queue deletes its copy once the letter was sent or given up; for a recipient without an account. Without a mail server it is not stored at all. */
  leaves_no_trace?: true;
  /** A person requested it by entering the address: it is also sent to an unproved address, and the queueing code limits the number of such letters. */
  asked?: true;
}

/** The SMTP server and the sender of mails. */
export interface MailServer {
  /** `smtp://` or `smtps://`, including the credentials. */
  url: string;
  /** The address that mails come from. */
  from: string;
  /** The address of this installation, for the logo. */
  public_url?: string | undefined;
}

const SECOND_MS = 1_000;
/** Waits before the next attempt: 10 s, 20 s, 40 s ... at most an hour; after the last one the mail is given up (about 8 hours in all). */
const BACK_OFF = { first_ms: 10 * SECOND_MS, most_ms: 3_600 * SECOND_MS, attempts: 16 } as const;
/** Time for which sent mails are kept, in ms. */
const KEPT_MS = 30 * 86_400 * SECOND_MS;
/** Maximum lifetime of a token or code in a letter, in ms. */
const PROOF_MS = 86_400 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const LATE_AFTER_MS = 60 * SECOND_MS;
/** Number of connections to the mail server, with one letter each at a time; some are reserved for urgent letters. */
const CONNECTIONS = 10;
const KEPT_FREE = 2;
const CAN_WAIT = PRIORITIES.indexOf('alert');
/**
 * Time for which other servers leave a letter alone while it is being sent, in ms: longer than the difference between clocks plus the mail server's time for all steps but
 * the slowest, which renews it. If this server is killed, another one sends the letter after that.
 */
const LEASE_MS = 180 * SECOND_MS;
const PROLONGED_EVERY_MS = 30 * SECOND_MS;
/** After a failed connection the mail server is left alone for a second, then twice as long each time, at most this many ms. */
const REST_MOST_MS = 30 * SECOND_MS;
/** Interval between attempts to store the outcome of a letter while the database is away, and the time to wait at shutdown for letters being sent, in ms. */
const NOTE_EVERY_MS = 500;
const CLOSE_MS = 4 * SECOND_MS;
/** An idle connection is closed after this many ms: mail servers close theirs themselves, which would delay a letter sent at that moment. */
const IDLE_MS = 15 * SECOND_MS;
/** Time that the mail server may take for each step, in ms. */
const SMTP_TIMEOUT_MS = 15 * SECOND_MS;
const ERROR_LENGTH_MAXIMUM = 300;

/** The wait after a failed attempt, in ms; undefined if there is no further attempt. */
export function backOff(attempts: number): number | undefined {
  if (attempts >= BACK_OFF.attempts) return undefined;
  return Math.min(BACK_OFF.most_ms, BACK_OFF.first_ms * 2 ** (attempts - 1));
}

/** Whether retrying is pointless: a mail server that answers 5xx to the letter itself will repeat that (RFC 5321 section 4.2.1); a refused sign-in may be fixed. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error) || !('code' in error)) return false;
  return Number(error.responseCode) >= 500 && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE');
}

/** Whether the fault is in the mail server or the connection to it, and not in this letter. */
function isOfServer(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE'));
}

type Row = Selectable<MailTables['mails']>;

interface MailOptions {
  database: Kysely<MailTables & InstallationTables>;
  server: MailServer | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Interval between looks at the outbox, in ms. */
  look_ms?: number | undefined;
  /** Called when mails were added, sent or refused. */
  onChange?: (() => void) | undefined;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

async function connect({ url }: MailServer): Promise<Transporter> {
  // Loaded only with a mail server: it takes a fifth of the start time.
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: SMTP_TIMEOUT_MS, greetingTimeout: SMTP_TIMEOUT_MS, socketTimeout: SMTP_TIMEOUT_MS };
  // A letter may have been accepted although its connection broke, so this class and not the pool decides about retries, and records them.
  const pool = { pool: true, maxConnections: CONNECTIONS, maxRequeues: 0, idleTimeout: IDLE_MS } as const;
  return createTransport({ url, ...pool, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
}

const change = (
  database: Kysely<MailTables & InstallationTables>,
  { id, attempts }: Pick<Row, 'id' | 'attempts'>,
  values: Updateable<MailTables['mails']>,
) => database.updateTable('mails').set(values).where('id', '=', id).where('attempts', '=', attempts).execute();

/**
 * Claims up to `most` letters for this server: of several servers, the first to update the row has it. The time of the next attempt is set before this one, so that no
 * letter is lost if the server dies.
 */
async function claim(
  database: Kysely<MailTables & InstallationTables>,
  now: () => number,
  priority: number,
  most: number,
): Promise<Row[]> {
  const due = at(now);
  const found = await database
    .selectFrom('mails')
    .select('id')
    .where('priority', '=', priority)
    .where('next_attempt_at', '<=', due)
    .orderBy('next_attempt_at')
    .limit(most)
    .execute();
  if (found.length === 0) return [];
  return await database
    .updateTable('mails')
    .set(({ eb }) => ({ attempts: eb('attempts', '+', 1), next_attempt_at: at(now, LEASE_MS) }))
    .where(
      'id',
      'in',
      found.map(({ id }) => id),
    )
    .where('next_attempt_at', '<=', due)
    .returningAll()
    .execute();
}

/** Letters wait in a table until a mail server has accepted them, also over restarts; without a mail server they wait for a reader. */
export class Mail {
  private readonly database: Kysely<MailTables & InstallationTables>;
  private readonly server: MailServer | undefined;
  private readonly now: () => number;
  private readonly logger: FastifyBaseLogger;
  private readonly onChange: () => void;
  private closed = false;
  private looking: Promise<void> | undefined;
  private isAskedAgain = false;
  private transporter: Promise<Transporter> | undefined;
  /** Letters that are being sent, by id. */
  private readonly underway = new Map<string, Promise<void>>();
  /** By `performance.now()`, which does not jump. */
  private rests_until = 0;
  private failures = 0;
  private readonly timers: readonly NodeJS.Timeout[];

  constructor(options: MailOptions) {
    this.database = options.database;
    this.server = options.server;
    this.now = options.now;
    this.logger = options.logger;
    const { look_ms = LOOK_EVERY_MS } = options;
    this.onChange = options.onChange ?? (() => {});
    this.timers =
      this.server === undefined
        ? []
        : [setInterval(this.sendDue, look_ms).unref(), setInterval(this.prolong, PROLONGED_EVERY_MS).unref()];
  }

  /** Stores the outcome of a letter, retrying while the database is away: a letter that was sent must not be sent again. */
  private async note(row: Row, write: (own: { id: string; attempts: number }) => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await write(row);
        return;
      } catch (error) {
        logFailure(this.logger, error, 'could not store the result of an email', { mail: row.id });
        if (this.closed) return;
        await pause(NOTE_EVERY_MS);
      }
    }
  }

  private readonly remove = ({ id, attempts }: Pick<Row, 'id' | 'attempts'>) =>
    this.database.deleteFrom('mails').where('id', '=', id).where('attempts', '=', attempts).execute();

  private async handOver(row: Row, to: MailServer, look: Look): Promise<void> {
    try {
      this.transporter ??= connect(to);
      await (await this.transporter).sendMail({
        from: { name: look.provider_name, address: to.from },
        to: { name: '', address: row.recipient },
        ...(row.reply_to !== null && { replyTo: row.reply_to }),
        subject: row.subject,
        text: row.text ?? '',
        html: mailPage({ ...look, text: row.text ?? '', public_url: to.public_url }),
        messageId: `<${row.id}@${to.from.split('@')[1] ?? 'localhost'}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      this.failures = 0;
    } catch (error) {
      if (isOfServer(error)) {
        this.rests_until = performance.now() + Math.min(REST_MOST_MS, SECOND_MS * 2 ** this.failures);
        this.failures += 1;
      } else this.failures = 0;
      const last_error = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAXIMUM);
      // Some servers quote the letter in their refusal, so only their code is logged.
      this.logger.warn({ err: error, mail: row.id, attempts: row.attempts }, 'a mail could not be sent');
      const wait = isFinal(error) ? undefined : backOff(row.attempts);
      if (row.leaves_no_trace === 1 && wait === undefined) await this.note(row, this.remove);
      else {
        const next_attempt_at = wait === undefined ? null : at(this.now, wait);
        await this.note(row, (own) => change(this.database, own, { last_error, next_attempt_at }));
      }
      return;
    }
    if (row.leaves_no_trace === 1) await this.note(row, this.remove);
    else
      await this.note(row, (own) =>
        change(this.database, own, {
          sent_at: at(this.now),
          text: null,
          reply_to: null,
          last_error: null,
          next_attempt_at: null,
        }),
      );
  }

  /** Starts sending as many letters as there are free connections, the most urgent first. */
  private async begin(to: MailServer): Promise<void> {
    for (const priority of PRIORITIES.keys()) {
      const room = CONNECTIONS - this.underway.size - (priority >= CAN_WAIT ? KEPT_FREE : 0);
      if (room <= 0 || this.closed || performance.now() < this.rests_until) return;
      const rows = await claim(this.database, this.now, priority, room);
      if (rows.length === 0) continue;
      const look = await readLook(this.database.$pickTables<'installation'>());
      for (const row of rows) {
        const done = this.handOver(row, to, look).finally(() => {
          this.underway.delete(row.id);
          this.onChange();
          this.sendDue();
        });
        this.underway.set(row.id, done);
      }
    }
  }

  private readonly sendDue = (): void => {
    if (this.server === undefined || this.closed) return;
    if (this.looking) {
      // Look again, because this letter was queued after the current look began.
      this.isAskedAgain = true;
      return;
    }
    this.looking = this.begin(this.server)
      .catch((error: unknown) => logFailure(this.logger, error, 'could not process the outbox'))
      .finally(() => {
        this.looking = undefined;
        if (!this.isAskedAgain) return;
        this.isAskedAgain = false;
        this.sendDue();
      });
  };

  private readonly prolong = (): void => {
    if (this.underway.size === 0) return;
    this.database
      .updateTable('mails')
      .set({ next_attempt_at: at(this.now, LEASE_MS) })
      .where('id', 'in', [...this.underway.keys()])
      .where('next_attempt_at', 'is not', null)
      .execute()
      .catch((error: unknown) => logFailure(this.logger, error, 'could not reserve emails that are being sent'));
  };

  /** `queue` for many letters. */
  async queueAll(transaction: Kysely<MailTables & InstallationTables>, all: readonly Letter[]): Promise<void> {
    const letters = all.filter(({ leaves_no_trace }) => leaves_no_trace === undefined || this.server !== undefined);
    if (letters.length === 0) return;
    const { provider_name, support } = await readProvider(transaction.$pickTables<'installation'>());
    const contact = formatList(
      [support.phone, shownEmail(support.email)].filter((part) => part !== ''),
      'plain',
    );
    const footer = contact === '' ? provider_name : `${provider_name}\nSupport: ${contact}`;
    const rows = letters.map(({ recipient, subject, lines, leaves_no_trace = false, priority = 'notice', reply_to = null }) => ({
      id: newId(),
      recipient,
      subject: `${provider_name}: ${subject}`,
      text: `${lines.join('\n\n')}${FOOTER}${footer}\n`,
      created_at: at(this.now),
      sent_at: null,
      attempts: 0,
      last_error: null,
      next_attempt_at: this.server === undefined ? null : at(this.now),
      leaves_no_trace: leaves_no_trace ? 1 : 0,
      priority: PRIORITIES.indexOf(priority),
      reply_to,
    }));
    await inBatches(rows, (batch) => transaction.insertInto('mails').values(batch).execute());
  }

  /** Adds a letter to the outbox as part of a transaction, so that it exists if and only if its reason does. Sends nothing: call `wake` after the commit. */
  queue(transaction: Kysely<MailTables & InstallationTables>, letter: Letter): Promise<void> {
    return this.queueAll(transaction, [letter]);
  }

  /** Has due letters sent now; does nothing without a mail server. Returns at once. */
  wake(): void {
    this.onChange();
    this.sendDue();
  }

  async list({ limit, cursor }: PageQuery): Promise<MailRecord[]> {
    const valid_from = at(this.now, -PROOF_MS);
    const place = placeAt(valid_from);
    let query = this.database.selectFrom('mails').selectAll().orderBy(place).orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) {
      const last = await this.database.selectFrom('mails').select(place.as('place')).where('id', '=', cursor).executeTakeFirst();
      const { place: reached = 0 } = last ?? {};
      query = query.where(sql<boolean>`(${place} > ${reached} or (${place} = ${reached} and id < ${cursor}))`);
    }
    return (await query.execute()).map((row) => mailOf(row, valid_from));
  }

  /** The sender's address; undefined without a mail server. */
  sender(): string | undefined {
    return this.server?.from;
  }

  /**
   * Records that an administrator told the recipient the letter's content, and deletes its text. @throws Problem `not_found`, and `conflict` for a letter that was sent, or
   * that a mail server will get.
   */
  async passOn(id: string): Promise<MailRecord> {
    const row = await this.database
      .updateTable('mails')
      .set({ sent_at: at(this.now), attempts: 0, text: null, reply_to: null, last_error: null })
      .where('id', '=', id)
      .where('sent_at', 'is', null)
      .where('next_attempt_at', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) {
      this.onChange();
      return mailOf(row, at(this.now, -PROOF_MS));
    }
    const other = await this.database.selectFrom('mails').select('id').where('id', '=', id).executeTakeFirst();
    throw other === undefined ? new Problem('not_found') : refuse('email.already_sent');
  }

  /** Counts mails that wait or were given up. Without a mail server it counts only letters of the last day that a person waits for: notices are not passed on by hand. */
  async countUnsent(): Promise<number> {
    let query = this.database
      .selectFrom('mails')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('sent_at', 'is', null);
    if (this.server === undefined)
      query = query.where('priority', '=', PRIORITIES.indexOf('proof')).where('created_at', '>=', at(this.now, -PROOF_MS));
    return Number((await query.executeTakeFirstOrThrow()).count);
  }

  /** The number of mails that have been due for more than a minute; those that wait for another attempt are not counted. */
  async countLate(): Promise<number> {
    const { count } = await this.database
      .selectFrom('mails')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('next_attempt_at', '<', at(this.now, -LATE_AFTER_MS))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Removes expired mails. */
  async forgetOld(): Promise<void> {
    await this.database.deleteFrom('mails').where('created_at', '<', at(this.now, -KEPT_MS)).execute();
  }

  /** Removes every mail to an address, as part of `database`'s transaction. */
  async forgetRecipient(transaction: Kysely<MailTables>, recipient: string): Promise<void> {
    await transaction.deleteFrom('mails').where('recipient', '=', recipient).execute();
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const timer of this.timers) clearInterval(timer);
    // Do not wait for a slow mail server: letters that it has not accepted are sent at the next start, or by another server.
    await Promise.race([
      Promise.allSettled([this.looking, ...this.underway.values()]),
      pause(CLOSE_MS, undefined, { ref: false }),
    ]);
    if (this.transporter) (await this.transporter).close();
  }
}

export function createMail(options: MailOptions): Mail {
  return new Mail(options);
}
