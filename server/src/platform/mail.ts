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
    /** When it is given to the mail server next; null when never. */
    next_attempt_at: string | null;
    /** 1: it is deleted once it was sent, or given up. */
    leaves_no_trace: number;
    /** 0 goes first, see `PRIORITIES`. */
    priority: number;
    /** The address for an answer, if it is not the sender's; null once it was sent: it lets its holder answer. */
    reply_to: string | null;
  };
}

// A text that waits may hold a token; so does an address for answers.
export const MAIL_PERSONAL: readonly PersonalTable[] = [
  { table: 'mails', column: 'recipient', holds: 'email', withheld: ['text', 'leaves_no_trace', 'priority', 'reply_to'] },
];

/** A letter in plain text. `lines` are its paragraphs; greeting and footer are added. */
interface Letter {
  recipient: string;
  /** Without the provider's name, which is put before it. */
  subject: string;
  lines: readonly string[];
  /** The address at which an answer to it is read. */
  reply_to?: string;
  /** `notice` by default. */
  priority?: (typeof PRIORITIES)[number];
  /**
   * The queue keeps no copy once it was sent, or given up; for a recipient without an account. Without a mail server it is not written at
   * all.
   */
  leaves_no_trace?: true;
  /** A person asked for it by naming the address: it also goes to an unproved one, and the queueing code bounds the number of these. */
  asked?: true;
}

/** The server to which mails are handed over, and their sender. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with the credentials in it. */
  url: string;
  /** The address that mails come from. */
  from: string;
  /** The address of this installation, for the logo. */
  public_url?: string | undefined;
}

const SECOND_MS = 1_000;
/** Waits before the next attempt: 10 s, 20 s, 40 s ... at most an hour; after the last one the mail is given up (some 8 hours in all). */
const BACK_OFF = { first_ms: 10 * SECOND_MS, most_ms: 3_600 * SECOND_MS, attempts: 16 } as const;
/** Time for which sent mails are kept. */
const KEPT_MS = 30 * 86_400 * SECOND_MS;
/** No token or code of a letter lasts longer. */
const PROOF_MS = 86_400 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const LATE_AFTER_MS = 60 * SECOND_MS;
/**
 * Letters that are being handed over at once, each over a connection of its own; so many of them are kept free of letters that can
 * wait.
 */
const CONNECTIONS = 10;
const KEPT_FREE = 2;
const CAN_WAIT = PRIORITIES.indexOf('alert');
/**
 * Time for which other servers leave a letter alone that is being handed over: longer than clocks differ, and than the mail server may take for all steps but
 * the slowest, for which it is prolonged. If this server is killed, another one sends the letter after that.
 */
const LEASE_MS = 180 * SECOND_MS;
const PROLONGED_EVERY_MS = 30 * SECOND_MS;
/** A mail server that cannot be reached is left alone for a second, then twice as long each time, at most this. */
const REST_MOST_MS = 30 * SECOND_MS;
/** Interval between attempts to store the outcome of a letter while the database is away, and the time to wait at the end for letters under way. */
const NOTE_EVERY_MS = 500;
const CLOSE_MS = 4 * SECOND_MS;
/** An idle connection is closed after this: mail servers do so themselves, and a letter that meets that has to wait. */
const IDLE_MS = 15 * SECOND_MS;
/** Time that the mail server may take for each step, in ms. */
const SMTP_TIMEOUT_MS = 15 * SECOND_MS;
const ERROR_LENGTH_MAXIMUM = 300;

/** The wait after a failed attempt, in ms; undefined when there is no further one. */
export function backOff(attempts: number): number | undefined {
  if (attempts >= BACK_OFF.attempts) return undefined;
  return Math.min(BACK_OFF.most_ms, BACK_OFF.first_ms * 2 ** (attempts - 1));
}

/** A mail server that answers 5xx to the letter itself will answer so the next time (RFC 5321 section 4.2.1); one that refuses our sign-in may be mended. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error) || !('code' in error)) return false;
  return Number(error.responseCode) >= 500 && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE');
}

/** Whether the fault is in the mail server or the way to it, and not in this letter. */
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
  // Loaded by who has a mail server alone: it is a fifth of the start.
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: SMTP_TIMEOUT_MS, greetingTimeout: SMTP_TIMEOUT_MS, socketTimeout: SMTP_TIMEOUT_MS };
  // A letter whose connection breaks may have been taken: when it is tried again is decided here, and noted.
  const pool = { pool: true, maxConnections: CONNECTIONS, maxRequeues: 0, idleTimeout: IDLE_MS } as const;
  return createTransport({ url, ...pool, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
}

const change = (
  database: Kysely<MailTables & InstallationTables>,
  { id, attempts }: Pick<Row, 'id' | 'attempts'>,
  values: Updateable<MailTables['mails']>,
) => database.updateTable('mails').set(values).where('id', '=', id).where('attempts', '=', attempts).execute();

/**
 * Takes up to `most` letters for this server alone: of several that want the same one, the first to change it has it. Their next attempt is set before this one,
 * so that none is lost with a server.
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

/** Letters that wait in a table until a mail server has taken them, over restarts; without a mail server they wait for a reader. */
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
  /** Letters that are being handed over, by id. */
  private readonly underway = new Map<string, Promise<void>>();
  /** By the clock of the machine: the mail server is a machine, too. */
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

  /** Notes what became of a letter, however long the database is away: a letter that was sent must not be sent again. */
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
      // Some servers quote the letter in their refusal: the log has their code alone.
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

  /** Begins with as many letters as there are connections free, the most urgent first. */
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
      // Queued after the current look began.
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

  /** The same for many. */
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

  /**
   * Writes a letter into the outbox as part of `database`'s transaction, so that it exists if and only if its reason does. Sends nothing: call `wake`
   * once the transaction is over.
   */
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

  /** The address that mails come from; undefined without a mail server. */
  sender(): string | undefined {
    return this.server?.from;
  }

  /**
   * Notes that an administrator told the recipient what a letter says, and deletes its text.
   * @throws Problem `not_found`, and `conflict` for a letter that was sent, or that a mail server will be given.
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

  /** Counts emails that wait or were given up. Without a mail server it counts only those that a person waits for, for a day: notices are not passed on by hand. */
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
    // A slow mail server is not waited for: letters that it has not taken by then are sent at the next start, or by another server.
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
