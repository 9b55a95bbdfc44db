import type { Content } from './content.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { openReader } from './reader.ts';

// OneNote's files (MS-ONESTORE): each attached file lies in a FileDataStoreObject (2.6.13), told by its GUID, its length before it. The tables that lead to
// them are left out: what is not in a table is opened by nobody, but costs nothing to read.

/** {7B5C52E4-D88C-4DA7-AEB1-5378D02996D3} and {43FF2FA1-EFD9-4C76-9EE2-10EA5722765F}: a section, and a table of contents (2.3.1). */
const FILE_TYPES: readonly Buffer[] = [
  Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex'),
  Buffer.from('a12fff43d9ef764c9ee210ea5722765f', 'hex'),
];
/** {BDE316E7-2665-4511-A4C4-8D4D0B7A9EAC} */
const OBJECT = Buffer.from('e716e3bd65261145a4c48d4d0b7a9eac', 'hex');
const HEADER_BYTES = 36;

export function isOneNote(head: Buffer): boolean {
  return FILE_TYPES.some((type) => head.subarray(0, type.length).equals(type));
}

/** The files in a section. @throws Unreadable `damaged`, at the end, where one is longer than the section. */
export async function* oneNoteMembers(content: Content, { budget }: Workshop): AsyncGenerator<Member> {
  const reader = openReader(content, budget);
  try {
    let number = 0;
    let is_damaged = false;
    for (let at = reader.find(OBJECT, 0); at >= 0; ) {
      const header = reader.at(at, HEADER_BYTES);
      const start = at + HEADER_BYTES;
      const length = header.length < HEADER_BYTES ? 0 : Number(header.readBigUInt64LE(OBJECT.length));
      const end = Math.min(start + length, reader.size);
      is_damaged ||= start + length > reader.size;
      if (end > start) {
        number += 1;
        async function* pieces(): AsyncGenerator<Buffer> {
          yield* reader.chunks(start, end);
        }
        yield { name: `file ${number}`, read: () => ({ stream: pieces(), packed_bytes: end - start }) };
      }
      // One that says it holds the others must not hide them: they are looked for in it.
      at = reader.find(OBJECT, start);
    }
    if (is_damaged) throw new Unreadable('damaged');
  } finally {
    reader.close();
  }
}
