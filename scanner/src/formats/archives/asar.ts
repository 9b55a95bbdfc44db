import { format, patternOf, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// asar, the archive format of Electron (electron/asar, README, "Format"): a header of two pickled numbers, a JSON list of files, then the contents of the
// files.

/** The header: two pickled numbers, and the length of the list with and without padding. */
const HEAD = struct('little', { pickle_bytes: 'u32', header_bytes: 'u32', padded_list_bytes: 'u32', list_bytes: 'u32' });
const HEAD_BYTES = HEAD.bytes;
/** Maximum size of the JSON list. The largest programs have lists of 2 MB; a parsed list takes many times its size in memory. Bytes. */
const LIST_BYTES_MAXIMUM = 8 * 1024 ** 2;
const MARK = Buffer.from('{"files":{');

function isAsar(head: Buffer): boolean {
  return (
    head.length >= HEAD_BYTES + MARK.length &&
    HEAD.read(head)?.pickle_bytes === 4 &&
    head.subarray(HEAD_BYTES, HEAD_BYTES + MARK.length).equals(MARK)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The files of the list, with their paths. Files stored outside the archive have no offset and are skipped. */
function* filesOf(list: unknown): Generator<{ name: string; start: number; size: number }> {
  const waiting: { path: string; entry: unknown }[] = [{ path: '', entry: list }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, entry } = next;
    if (!isRecord(entry)) continue;
    const { files, offset, size } = entry;
    if (isRecord(files))
      for (const [name, inner] of Object.entries(files))
        waiting.push({ path: path === '' ? name : `${path}/${name}`, entry: inner });
    const start = Number(offset);
    if (typeof size === 'number' && size > 0 && offset !== undefined && start >= 0) yield { name: path, start, size };
  }
}

/**
 * Lists the files of an asar. @throws Unreadable `damaged` if the list is not valid JSON or names bytes outside the archive, `too_large` if the list is too
 * long.
 */
async function* asarMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const head = HEAD.read(reader.at(0, HEAD_BYTES));
  if (head === undefined) throw new Unreadable('damaged');
  const { list_bytes } = head;
  const body = 8 + head.header_bytes;
  if (list_bytes > LIST_BYTES_MAXIMUM) throw new Unreadable('too_large');
  if (HEAD_BYTES + list_bytes > body) throw new Unreadable('damaged');
  let list: unknown;
  try {
    list = JSON.parse(reader.at(HEAD_BYTES, list_bytes).toString('utf8'));
  } catch {
    throw new Unreadable('damaged');
  }
  claim(0, body);
  const files = [...filesOf(list)].sort((one, other) => one.start - other.start);
  budget.announce(files.length);
  let is_damaged = false;
  // Overlapping files read the same bytes again. The total of repeated bytes is limited to the size of the archive.
  let end = body;
  let shared = 0;
  for (const { name, start, size } of files) {
    const from = body + start;
    const to = Math.min(from + size, reader.size);
    is_damaged ||= from + size > reader.size;
    claim(from, to);
    shared += Math.max(0, Math.min(end, to) - from);
    if (shared > reader.size) throw new LimitReached('bomb');
    end = Math.max(end, to);
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, to);
    }
    if (from < to) yield { name, read: () => ({ stream: pieces(), packed_bytes: to - from }) };
  }
  if (is_damaged) throw new Unreadable('damaged');
}

export const asar = format({
  id: 'asar',
  media_type: 'application/x-packed',
  recognise: withBits(96, isAsar),
  carve: [{ pattern: `04 00 00 00 ?? ?? ?? 00 ?? ?? ?? 00 ?? ?? ?? 00 ${patternOf({ at: 0, bytes: MARK })}`, is_own: true }],
  traits: { holds_whole_files: true },
  limits: 'Files that lie unpacked beside the archive are not in it.',
  open: asarMembers,
});
