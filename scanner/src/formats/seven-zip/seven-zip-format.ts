import { scanPhrase } from '@palisade/contract/scan-phrases';
import { type Format, type FormatContext, format, innerName } from '#scanner/formats/format.ts';
import { type Content, joined, openSource, type Source } from '#scanner/reading/content.ts';
import { type Member, Unreadable } from '#scanner/reading/member.ts';
import { endOfZeros, openReader } from '#scanner/reading/reader.ts';
import { areOthers, type ListedMember, noted, type ReadList } from './listed-members.ts';
import { NotAnArchive, sevenZipMembers } from './seven-zip.ts';

// Defines formats that 7-Zip opens, by their recognition and their name in 7-Zip.

/** Dictionary size in the header of an LZMA file: its position, and the sizes that 7-Zip accepts. Bytes. */
const DICTIONARY = { at: 1, bytes: 4, least: 4096, most: 2 ** 28 } as const;

/** The same LZMA file with its dictionary size rounded up to a size that 7-Zip accepts. A larger dictionary does not change the output. */
function withUsualDictionary(source: Source): Source {
  const head = Buffer.from(source.read(0, DICTIONARY.at + DICTIONARY.bytes));
  if (head.length < DICTIONARY.at + DICTIONARY.bytes) return source;
  const wanted = head.readUInt32LE(DICTIONARY.at);
  let dictionary: number = DICTIONARY.least;
  while (dictionary < wanted && dictionary < DICTIONARY.most) dictionary *= 2;
  head.writeUInt32LE(dictionary, DICTIONARY.at);
  return joined(source, [head, { start: head.length, size: source.size - head.length }]);
}

/** Options for opening a format with 7-Zip. */
interface Opening {
  /** Name of the format in 7-Zip. Undefined lets 7-Zip detect it and open nested archives in one pass. */
  type: string | undefined;
  /** Whether the format has no magic. Other data may then look like it, so a guess that fails is ignored even after some output. */
  has_no_mark: boolean;
  is_named_after_file: boolean;
  list: ReadList | undefined;
  /** Whether 7-Zip gives members that are not listed. */
  has_more: boolean;
  /** Whether the list has SHA-1 hashes. */
  has_sha1: boolean;
}

async function* membersBy7Zip(
  content: Content,
  { type, has_no_mark, is_named_after_file, list, has_more, has_sha1 }: Opening,
  context: FormatContext,
): AsyncGenerator<Member> {
  const source = openSource(content);
  const reader = openReader(content, context.budget);
  const claim = (from: number, to: number) => context.claim(from, endOfZeros(reader, to));
  const from = has_no_mark && context.is_guess ? withUsualDictionary(source) : source;
  try {
    const given: ListedMember[] = [];
    let members = 0;
    for await (const member of sevenZipMembers(from, type, context, claim)) {
      members += 1;
      yield noted(is_named_after_file ? { ...member, name: innerName(context.name) } : member, given, has_sha1);
    }
    // The comparison requires that all members were read to their ends.
    const listed = given.length === members ? list?.(reader) : undefined;
    if (listed !== undefined && areOthers(listed, given, has_more)) {
      context.note(scanPhrase('archive.other_contents', {}));
      throw new Unreadable('damaged');
    }
  } catch (error) {
    if (context.is_guess && error instanceof (has_no_mark ? Unreadable : NotAnArchive)) return;
    throw error;
  } finally {
    reader.close();
    source.close();
  }
}

type Definition = Omit<Parameters<typeof format>[0], 'open' | 'limits'> & {
  type: string | undefined;
  has_no_mark?: true;
  /** Lists the members from the archive's own headers, to compare them with the output of 7-Zip. */
  list?: ReadList;
  has_more?: true;
  has_sha1?: true;
  limits?: string;
};

/** Defines a format that 7-Zip opens. */
export function sevenZipFormat({ type, has_no_mark, limits, list, has_more, has_sha1, ...definition }: Definition): Format {
  const opening = {
    type,
    has_no_mark: has_no_mark === true,
    is_named_after_file: definition.traits?.is_named_after_file === true,
    list,
    has_more: has_more === true,
    has_sha1: has_sha1 === true,
  };
  return format({
    media_type: 'application/x-packed',
    ...definition,
    limits: limits ?? null,
    open: (content, context) => membersBy7Zip(content, opening, context),
  });
}
