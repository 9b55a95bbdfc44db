import { PATH_LENGTH_MAXIMUM } from '@palisade/contract/agent';

/**
 * The text form of a path of bytes, for all data that is sent to the server. A byte that is not part of valid UTF-8 is written as `\x` and two lower-case
 * hexadecimal digits. A backslash is written as `\x5c` only if it would otherwise be read as the start of such an escape: a path of valid UTF-8 without
 * `\x` stays unchanged. The two functions are inverse to each other for all bytes.
 */

const ESCAPE = /\\x([0-9a-f]{2})/gu;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Length of a valid UTF-8 sequence at `at`, or 0 (RFC 3629, section 4). */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] ?? 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let index = 2; index < length; index += 1) {
    const next = bytes[at + index] ?? 0;
    if (next < 0x80 || next > 0xbf) return 0;
  }
  return length;
}

const escapeBackslashes = (text: string) => text.replaceAll(ESCAPE, '\\x5cx$1');

function decoded(bytes: Buffer): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Converts the bytes of a name or path to the text form. */
export function textOfBytes(bytes: Buffer): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return escapeBackslashes(whole);
  let text = '';
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    text += `${escapeBackslashes(bytes.toString('utf8', from, at))}\\x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`;
    at += 1;
    from = at;
  }
  return text + escapeBackslashes(bytes.toString('utf8', from));
}

/** Converts a text form back to bytes. */
export function bytesOfText(text: string): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(ESCAPE)) {
    parts.push(Buffer.from(text.slice(from, match.index)), Buffer.from(match[1] ?? '', 'hex'));
    from = match.index + match[0].length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from))]);
}

/**
 * The text form of a path for a report. The middle of a long path is left out; the device stores the complete path for restoring the file.
 */
export function wirePath(path: Buffer): string {
  const text = textOfBytes(path);
  if (text.length <= PATH_LENGTH_MAXIMUM) return text;
  const part = PATH_LENGTH_MAXIMUM / 2 - 1;
  return `${text.slice(0, part)}…${text.slice(-part)}`.toWellFormed();
}
