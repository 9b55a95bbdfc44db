import type { Content } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { LOOK_BYTES, textFormOf } from './text-encoding.ts';

// Values that a format stores next to each other, as serialized objects and tables do: thousands of short ones, of which few may be files.

/** A shorter value is not matched alone: no rule matches it. Bytes. */
export const VALUE_LEAST = 33;
/** Maximum number of texts that are also matched alone, such as a test file in a value. */
const ALONE_MAXIMUM = 500;
/** Maximum number of texts in other encodings than UTF-8 that become members; all files do. */
const MEMBERS_MAXIMUM = 1000;
/** Collected values become a member at this size. Bytes. */
const TOGETHER_BYTES = 1024 ** 2;
const NEWLINE = Buffer.from('\n');

export interface Value {
  bytes: Buffer;
  /** Whether it is a text in UTF-8 or ASCII. */
  is_text: boolean;
}

export const isUtf8Text = (bytes: Buffer) => textFormOf(bytes.subarray(0, LOOK_BYTES))?.encoding === 'utf-8';

/** Collects values, and yields a member each time that they reach TOGETHER_BYTES. */
class Together {
  private readonly name: string;
  private readonly pieces: JoinedPieces;

  constructor(name: string, between?: Buffer) {
    this.name = name;
    this.pieces = new JoinedPieces(between);
  }

  *add(bytes: Buffer): Generator<Member> {
    this.pieces.add(bytes);
    if (this.pieces.length >= TOGETHER_BYTES) yield* this.end();
  }

  *end(): Generator<Member> {
    if (this.pieces.length === 0) return;
    const bytes = this.pieces.take();
    yield { name: this.name, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** The values as members: files and texts in other encodings one by one, other texts as lines of one text and the first of them alone as well, the rest together. `isFile`: tests for files. */
export function* valueMembers(
  values: Iterable<Value>,
  { budget }: Pick<ReadContext, 'budget'>,
  isFile: (bytes: Buffer) => boolean,
): Generator<Member> {
  const texts = new Together('texts', NEWLINE);
  const others = new Together('other values');
  let alone = 0;
  let members = 0;
  let number = 0;
  for (const { bytes, is_text } of values) {
    number += 1;
    budget.spend(bytes.length + VALUE_LEAST);
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    const whole = { name: `value ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
    if (bytes.length < VALUE_LEAST) {
      // A text may be stored line by line.
      if (is_text) yield* texts.add(bytes);
    } else if (isFile(bytes)) yield whole;
    else if (is_text) {
      alone += 1;
      if (alone <= ALONE_MAXIMUM) yield { ...whole, kind: 'alone' };
      yield* texts.add(bytes);
    } else if (members < MEMBERS_MAXIMUM && textFormOf(bytes.subarray(0, LOOK_BYTES)) !== undefined) {
      members += 1;
      yield whole;
    } else yield* others.add(bytes);
  }
  yield* texts.end();
  yield* others.end();
}

/** The values that `find` yields for a content, as members. */
export async function* membersOfValues(
  content: Content,
  context: ReadContext,
  isFile: (bytes: Buffer) => boolean,
  find: (reader: Reader) => Iterable<Value>,
): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  yield* valueMembers(find(reader), context, isFile);
}
