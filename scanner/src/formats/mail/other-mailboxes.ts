import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Mailboxes with their own separators, as written by mutt, Emacs and Python's library: MMDF and Babyl.

const MMDF = Buffer.from('\x01\x01\x01\x01\n');
const BABYL = 'BABYL OPTIONS:';
const BABYL_END = Buffer.from('\n\x1f');
/** A copy of the header, as it was displayed, follows this line. */
const BABYL_SHOWN = Buffer.from('\n*** EOOH ***');
const LINE_END = Buffer.from('\n');
const NEWLINE = 0x0a;
const EMPTY_LINES = [Buffer.from('\n\n'), Buffer.from('\n\r\n')];

function isOtherMailbox(head: Buffer): boolean {
  return head.subarray(0, MMDF.length).equals(MMDF) || head.toString('latin1', 0, BABYL.length) === BABYL;
}

async function* streamed(reader: Reader, ranges: readonly (readonly [number, number])[]): AsyncGenerator<Buffer> {
  for (const [from, to] of ranges) yield* reader.chunks(from, to);
}

/** The mails between MMDF separators. */
function* ofMmdf(reader: Reader): Generator<[number, number][]> {
  for (let at = reader.find(MMDF, 0); at >= 0; ) {
    const from = at + MMDF.length;
    at = reader.find(MMDF, from);
    if (at !== from) yield [[from, at < 0 ? reader.size : at]];
  }
}

/** The mails of Babyl: the original header, and the text after the displayed header. */
function* ofBabyl(reader: Reader): Generator<[number, number][]> {
  for (let at = reader.find(BABYL_END, 0); at >= 0; ) {
    const start = at + BABYL_END.length;
    at = reader.find(BABYL_END, start);
    const end = at < 0 ? reader.size : at + 1;
    // The rest of the separator line is a form feed; a line of labels follows.
    const labels = reader.find(LINE_END, start, end);
    const header = labels < 0 ? -1 : reader.find(LINE_END, labels + 1, end);
    const shown = header < 0 ? -1 : reader.find(BABYL_SHOWN, header, end);
    if (shown < 0) continue;
    const bodies = EMPTY_LINES.map((mark) => reader.find(mark, shown + BABYL_SHOWN.length, end)).filter((found) => found >= 0);
    // An empty line before it already ends the header.
    const header_end = reader.at(shown - 1, 1)[0] === NEWLINE ? shown : shown + 1;
    if (bodies.length > 0)
      yield [
        [header + 1, header_end],
        [Math.min(...bodies) + 1, end],
      ];
  }
}

async function* otherMailboxMembers(content: Content, { budget }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  let number = 0;
  for (const ranges of reader.at(0, 1)[0] === MMDF[0] ? ofMmdf(reader) : ofBabyl(reader)) {
    number += 1;
    const packed_bytes = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
    yield { name: `mail ${number}.eml`, read: () => ({ stream: streamed(reader, ranges), packed_bytes }) };
  }
}

export const otherMailbox = format({
  id: 'other-mailbox',
  media_type: 'application/mbox',
  recognise: withBits(40, isOtherMailbox),
  limits: null,
  open: otherMailboxMembers,
});
