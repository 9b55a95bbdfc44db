import type { PageQuery } from '@palisade/contract/fields';
import type { Mail as MailRecord } from '@palisade/contract/mail';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Selectable } from 'kysely';
import type { Transporter } from 'nodemailer';
import { newId } from './id.ts';
import { type InstallationTables, readProvider } from './installation.ts';

import type { PersonalTable } from './personal-data.ts';

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
    /** 1: nothing of it is kept once it was sent, or given up. */
    leaves_no_trace: number;
  };
}

// A text that waits may hold a token.
export const MAIL_PERSONAL: readonly PersonalTable[] = [
  { table: 'mails', column: 'recipient', holds: 'email', withheld: ['text', 'leaves_no_trace'] },
];

/** A letter in plain text. `lines` are its paragraphs; greeting and footer are added. */
interface Letter {
  recipient: string;
  /** Without the provider's name, which is put before it. */
  subject: string;
  lines: readonly string[];
  /** Nothing of it is kept once it was sent, or given up; for who is no longer known here. Without a mail server it is not written at all. */
  leaves_no_trace?: true;
  /** Somebody asked for it by naming the address: it goes to one that nobody has proved, too, and who queues it bounds how many there are. */
  asked?: true;
}

export interface Mail {
  /**
   * Writes a letter into the outbox as part of `database`'s transaction, so that it exists if and only if its reason does. Sends nothing: call `wake`
   * once the transaction is over.
   */
  queue(database: Kysely<MailTables & InstallationTables>, letter: Letter): Promise<void>;
  /** Has what is due sent now; without a mail server nothing happens. Returns at once. */
  wake(): void;
  list(page: PageQuery): Promise<MailRecord[]>;
  /** Removes what is older than mails are kept. */
  forgetOld(): Promise<void>;
  /** Removes every mail to an address, as part of `database`'s transaction. */
  forgetRecipient(database: Kysely<MailTables>, recipient: string): Promise<void>;
  close(): Promise<void>;
}

/** Where mails are handed over, and in whose name. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with the credentials in it. */
  url: string;
  /** The address that mails come from. */
  from: string;
}

const SECOND_MS = 1_000;
/** Waits before the next attempt: 10 s, 20 s, 40 s ... at most an hour; after the last one the mail is given up (some 8 hours in all). */
const BACK_OFF = { first_ms: 10 * SECOND_MS, most_ms: 3_600 * SECOND_MS, attempts: 16 } as const;
/** How long it can be seen what was sent to whom. */
const KEPT_MS = 30 * 86_400 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const BATCH = 20;
/** How long the mail server may take for each step, in ms. */
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

function statusOf(row: Selectable<MailTables['mails']>): MailRecord['status'] {
  if (row.sent_at !== null) return 'sent';
  return row.next_attempt_at === null && row.attempts > 0 ? 'failed' : 'waiting';
}

/** Letters that wait in a table until a mail server has taken them, whoever restarts meanwhile; without a mail server they wait for a reader. */
export function createMail(parts: {
  database: Kysely<MailTables & InstallationTables>;
  server: MailServer | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** How often the outbox is looked at, in ms. */
  look_ms?: number | undefined;
}): Mail {
  const { database, server, now, logger, look_ms = LOOK_EVERY_MS } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();
  let closed = false;
  let sending: Promise<void> | undefined;
  let isAskedAgain = false;
  let transporter: Promise<Transporter> | undefined;

  async function connect({ url }: MailServer): Promise<Transporter> {
    // Loaded by who has a mail server alone: it is a fifth of the start.
    const { createTransport } = await import('nodemailer');
    const timeouts = { connectionTimeout: SMTP_TIMEOUT_MS, greetingTimeout: SMTP_TIMEOUT_MS, socketTimeout: SMTP_TIMEOUT_MS };
    return createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  }

  async function attempt(row: Selectable<MailTables['mails']>, to: MailServer): Promise<void> {
    const attempts = row.attempts + 1;
    const wait = backOff(attempts);
    const next_attempt_at = wait === undefined ? null : at(wait);
    // Claimed by its count of attempts, so that of several servers one sends it; the next attempt is set before, so that none is lost with a server.
    const claimed = await database
      .updateTable('mails')
      .set({ attempts, next_attempt_at })
      .where('id', '=', row.id)
      .where('attempts', '=', row.attempts)
      .where('sent_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (claimed === undefined) return;
    try {
      const { provider_name } = await readProvider(database.$pickTables<'installation'>());
      transporter ??= connect(to);
      await (await transporter).sendMail({
        from: { name: provider_name, address: to.from },
        to: { name: '', address: row.recipient },
        subject: row.subject,
        text: row.text ?? '',
        messageId: `<${row.id}@${to.from.split('@')[1] ?? 'localhost'}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } catch (error) {
      const last_error = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAXIMUM);
      // Some servers quote the letter in their refusal: the log has their code alone.
      logger.warn({ err: error, mail: row.id, attempts }, 'a mail could not be sent');
      if (row.leaves_no_trace === 1 && (wait === undefined || isFinal(error))) {
        await database.deleteFrom('mails').where('id', '=', row.id).execute();
        return;
      }
      await database
        .updateTable('mails')
        .set({ last_error, ...(isFinal(error) ? { next_attempt_at: null } : {}) })
        .where('id', '=', row.id)
        .execute();
      return;
    }
    if (row.leaves_no_trace === 1) {
      await database.deleteFrom('mails').where('id', '=', row.id).execute();
      return;
    }
    await database
      .updateTable('mails')
      .set({ sent_at: at(), text: null, last_error: null, next_attempt_at: null })
      .where('id', '=', row.id)
      .execute();
  }

  async function sendDue(to: MailServer): Promise<void> {
    const rows = await database
      .selectFrom('mails')
      .selectAll()
      .where('next_attempt_at', '<=', at())
      .orderBy('next_attempt_at')
      .limit(BATCH)
      .execute();
    for (const row of rows) {
      if (closed) return;
      await attempt(row, to);
    }
  }

  function wake(): void {
    if (server === undefined || closed) return;
    if (sending) {
      // What was queued after the run under way had looked.
      isAskedAgain = true;
      return;
    }
    sending = sendDue(server)
      .catch((error: unknown) => logger.error({ err: error }, 'the outbox could not be worked through'))
      .finally(() => {
        sending = undefined;
        if (!isAskedAgain) return;
        isAskedAgain = false;
        wake();
      });
  }

  const timer = server === undefined ? undefined : setInterval(wake, look_ms).unref();

  return {
    async queue(transaction, { recipient, subject, lines, leaves_no_trace = false }) {
      if (leaves_no_trace && server === undefined) return;
      const { provider_name, support } = await readProvider(transaction.$pickTables<'installation'>());
      const contact = [support.phone, support.email].filter((part) => part !== '').join(', ');
      const footer = contact === '' ? provider_name : `${provider_name}\nSupport: ${contact}`;
      await transaction
        .insertInto('mails')
        .values({
          id: newId(),
          recipient,
          subject: `${provider_name}: ${subject}`,
          text: `${lines.join('\n\n')}\n\n-- \n${footer}\n`,
          created_at: at(),
          sent_at: null,
          attempts: 0,
          last_error: null,
          next_attempt_at: server === undefined ? null : at(),
          leaves_no_trace: leaves_no_trace ? 1 : 0,
        })
        .execute();
    },

    wake,

    async list({ limit, cursor }) {
      let query = database.selectFrom('mails').selectAll().orderBy('id', 'desc').limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      const rows = await query.execute();
      return rows.map((row) => ({ ...row, status: statusOf(row) }));
    },

    async forgetOld() {
      await database.deleteFrom('mails').where('created_at', '<', at(-KEPT_MS)).execute();
    },

    async forgetRecipient(transaction, recipient) {
      await transaction.deleteFrom('mails').where('recipient', '=', recipient).execute();
    },

    async close() {
      closed = true;
      clearInterval(timer);
      await sending;
      if (transporter) (await transporter).close();
    },
  };
}
