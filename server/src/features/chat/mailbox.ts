import { isLoopbackHost } from '#platform/settings.ts';

/** A mail in the mailbox, before it is read. */
export interface ArrivedMail {
  uid: number;
  /** Bytes. */
  size: number;
  /** The header fields with the recipients' addresses. */
  recipients: string;
}

/** An open mailbox. */
export interface Mailbox {
  /** Changes when the mails are renumbered. */
  validity: string;
  /** The mails after a UID, in order of arrival, fetched in batches of `at_once`. */
  after(uid: number, at_once: number): AsyncIterable<ArrivedMail>;
  /** The raw mail, up to `bytes`. */
  source(uid: number, bytes: number): Promise<Uint8Array>;
  remove(uid: number): Promise<void>;
  /** Flags a mail for a person who looks into the mailbox. */
  flag(uid: number): Promise<void>;
  close(): Promise<void>;
}

/** The header fields that name the address of delivery. */
export const RECIPIENT_HEADERS = [
  'to',
  'cc',
  'delivered-to',
  'x-delivered-to',
  'x-original-to',
  'envelope-to',
  'x-envelope-to',
  'resent-to',
];
const SECOND_MS = 1_000;
const CONNECT_MS = 15 * SECOND_MS;
/** A server that is silent for this many ms is considered gone. */
const SILENT_MS = 60 * SECOND_MS;
const HEADERS_MAXIMUM = 64 * 1024;

/** Opens the mailbox of a URL: `imaps://user:password@host:993/INBOX`. @throws errors of the server or the connection. */
export async function openMailbox({ url, signal }: { url: string; signal: AbortSignal }): Promise<Mailbox> {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const secure = protocol === 'imaps:';
  // Loaded only if a mailbox is configured.
  const { ImapFlow } = await import('imapflow');
  const client = new ImapFlow({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 993 : 143) : Number(port),
    secure,
    // Require TLS, so that a password is never sent in plain text over a network.
    ...(!secure && !isLoopbackHost(hostname) && { doSTARTTLS: true }),
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    logger: false,
    disableAutoIdle: true,
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENT_MS },
  });
  // Pending calls then reject; without a listener the error would end the process.
  client.on('error', () => {});
  const stop = () => client.close();
  signal.addEventListener('abort', stop);
  try {
    await client.connect();
    const { uidValidity } = await client.mailboxOpen(decodeURIComponent(pathname.slice(1)) || 'INBOX');
    return {
      validity: String(uidValidity),

      async *after(uid, at_once) {
        const found = await client.search({ uid: `${uid + 1}:*` }, { uid: true });
        // `*` also matches the last mail if its UID is not higher.
        const uids = (found || []).filter((one) => one > uid).toSorted((a, b) => a - b);
        for (let from = 0; from < uids.length; from += at_once) {
          const some = uids.slice(from, from + at_once).join(',');
          const mails = await client.fetchAll(some, { uid: true, size: true, headers: RECIPIENT_HEADERS }, { uid: true });
          for (const mail of mails.toSorted((a, b) => a.uid - b.uid)) {
            const recipients = (mail.headers?.toString('latin1') ?? '').slice(0, HEADERS_MAXIMUM);
            yield { uid: mail.uid, size: mail.size ?? 0, recipients };
          }
        }
      },

      async source(uid, bytes) {
        const mail = await client.fetchOne(String(uid), { source: { start: 0, maxLength: bytes } }, { uid: true });
        if (mail === false || mail.source === undefined) throw new Error('This email is no longer in the mailbox.');
        return mail.source;
      },

      async remove(uid) {
        await client.messageDelete(String(uid), { uid: true });
      },

      async flag(uid) {
        await client.messageFlagsAdd(String(uid), ['\\Flagged'], { uid: true });
      },

      async close() {
        signal.removeEventListener('abort', stop);
        await client.logout().catch(() => client.close());
      },
    };
  } catch (error) {
    signal.removeEventListener('abort', stop);
    client.close();
    throw error;
  }
}
