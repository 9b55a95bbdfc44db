// Recognises mails and mailboxes by their first lines.

const KNOWN_HEADER =
  /^(received|return-path|delivered-to|message-id|mime-version|date|from|to|subject|reply-to|content-type|content-transfer-encoding|x-[a-z-]{2,40}|dkim-signature|authentication-results)[ \t]*:/i;
export const MBOX_START = /^From [^\r\n]{1,200}\r?\n[!-9;-~]{1,76}:/;
const HEAD_CHARACTERS = 16 * 1024;

/** Data that may precede a mail: a byte order mark, empty lines, the length that Apple Mail writes first (emlx), and an escaped mailbox line. */
export const BEFORE_MAIL = /^(?:\xef\xbb\xbf)?(?:\r?\n)*(?:\d{1,12}[ \t]*\r?\n)?(?:>From [^\r\n]{1,200}\r?\n)?/;

/** Parts without the header that declares their boundary, as in a submitted form. */
export const BARE_PARTS = /^--(?!-{0,90}\r?\n)([^\s]{1,90})\r?\nContent-(?:Disposition|Type|Transfer-Encoding|ID)[ \t]*:/i;

export const BARE_PARTS_BYTES = 160;

/** Whether the bytes begin with a mail or a mailbox. */
export function mailKind(head: Buffer): 'mail' | 'mailbox' | undefined {
  const text = head.toString('latin1', 0, HEAD_CHARACTERS).replace(BEFORE_MAIL, '');
  if (BARE_PARTS.test(text)) return 'mail';
  if (MBOX_START.test(text)) return 'mailbox';
  if (!/^[!-9;-~]{1,76}[ \t]*:/.test(text)) return undefined;
  const headers = text.slice(0, /\r?\n\r?\n/.exec(text)?.index ?? text.length).split(/\r?\n(?![ \t])/);
  const known = headers.filter((line) => KNOWN_HEADER.test(line));
  // Notes and logs may begin with one such line, so two are needed. A content header suffices, because mails with attachments have one.
  return known.length >= 2 || known.some((line) => /^content-(type|transfer-encoding)/i.test(line)) ? 'mail' : undefined;
}
