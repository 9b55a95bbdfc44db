import { CARVED, type Carved } from '#scanner/formats/carved-formats.ts';
import { COMPRESS_BYTES, provesCompress } from '#scanner/formats/carving-proofs.ts';
import type { Reader } from './reader.ts';

/** Rules that are named so report places, not threats. */
const PREFIX = 'Palisade_Carving_';

/** The patterns as rules for YARA-X: one each, so that every one reports its own places. */
export function carvingSource(): string {
  return CARVED.map(({ pattern }, index) => {
    const body = pattern.startsWith('/') ? pattern : `{ ${pattern} }`;
    return `rule ${PREFIX}${index} { strings: $at = ${body} condition: $at }`;
  }).join('\n');
}

/** Which format a rule of `carvingSource` looks for; undefined for every other rule. */
export function carvedBy(rule: string): Carved | undefined {
  return rule.startsWith(PREFIX) ? CARVED[Number(rule.slice(PREFIX.length))] : undefined;
}

/** What random bytes must agree with to fit a pattern. Bits. */
export function bitsOf({ pattern, bits }: Carved): number {
  if (bits !== undefined) return bits;
  return tokensOf(pattern).reduce((sum, token) => {
    if (token.startsWith('(')) return sum + 8 - Math.log2(token.split('|').length);
    return /^[0-9a-f]{2}$/.test(token) ? sum + 8 : sum;
  }, 0);
}

function tokensOf(pattern: string): string[] {
  return pattern.match(/\([^)]*\)|\[\d+\]|\S+/g) ?? [];
}

/** A pattern for text in Latin-1, for a search beyond the matches that YARA-X reports. */
export function regExpOf({ pattern }: Carved): RegExp {
  const regex = /^\/(.*)\/(\w*)$/.exec(pattern);
  if (regex !== null) return new RegExp(regex[1] ?? '', `g${regex[2] ?? ''}`);
  const parts = tokensOf(pattern).map((token) => {
    if (token === '??') return '[^]';
    if (token.startsWith('[')) return `[^]{${token.slice(1, -1)}}`;
    const bytes = token.replaceAll(/[()]/g, '').split('|');
    return `[${bytes.map((byte) => `\\x${byte}`).join('')}]`;
  });
  return new RegExp(parts.join(''), 'g');
}

/** Places that matched, by format. `is_cut`: there are more than were reported. */
export type Places = Map<Carved, { offsets: Set<number>; is_cut: boolean }>;

/** A place where a container seems to begin. */
export interface Hit {
  carved: Carved;
  /** Of the container's first byte. */
  offset: number;
}

/** No pattern is longer. Bytes. */
const PATTERN_BYTES_MAXIMUM = 128;

const SEARCHED_BYTES = 1024 ** 2;

/** Every place of a format. Bytes that many of its places fill are searched once more, for as many as there are. */
function* everyPlace(reader: Reader, carved: Carved): Generator<number> {
  const pattern = regExpOf(carved);
  for (let start = 0; start < reader.size; start += SEARCHED_BYTES) {
    const piece = reader.at(start, SEARCHED_BYTES + PATTERN_BYTES_MAXIMUM).toString('latin1');
    pattern.lastIndex = 0;
    for (let found = pattern.exec(piece); found !== null && found.index < SEARCHED_BYTES; found = pattern.exec(piece)) {
      yield start + found.index;
      pattern.lastIndex = found.index + 1;
    }
  }
}

/** compress(1): its magic has two bytes and one of flags, which is too little for the rules; its first codes prove it. */
const COMPRESS: Carved = { format: 'Z', pattern: '1f 9d', is_guess: true };
const COMPRESS_MAGIC = Buffer.from('1f9d', 'hex');
/** In larger contents it is looked for at the beginning only. Bytes. */
const COMPRESS_WITHIN = 64 * 1024 ** 2;
const DENSE = 256;

/** Where the magic stands next. A call for each is dear where it fills a content, so that after many the bytes are looked at one by one. */
function nextCompress(piece: Buffer, from: number, is_dense: boolean): number {
  if (!is_dense) return piece.indexOf(COMPRESS_MAGIC, from);
  for (let at = from; at + 1 < piece.length; at += 1) if (piece[at] === 0x1f && piece[at + 1] === 0x9d) return at;
  return -1;
}

function* compressIn(reader: Reader): Generator<Hit> {
  if (reader.size > COMPRESS_WITHIN) return;
  for (let start = 0; start < reader.size; start += SEARCHED_BYTES) {
    const piece = reader.at(start, SEARCHED_BYTES + COMPRESS_BYTES);
    let places = 0;
    for (
      let at = nextCompress(piece, 0, false);
      at >= 0 && at < SEARCHED_BYTES;
      at = nextCompress(piece, at + 1, places > DENSE)
    ) {
      places += 1;
      if (provesCompress(piece, at)) yield { carved: COMPRESS, offset: start + at };
    }
  }
}

/** Where containers seem to begin, in order. */
export function hitsOf(reader: Reader, places: Places): Hit[] {
  const hits: Hit[] = [...compressIn(reader)];
  for (const [carved, { offsets, is_cut }] of places) {
    for (const place of is_cut ? everyPlace(reader, carved) : offsets) {
      const offset = place - (carved.back ?? 0);
      if (offset >= 0) hits.push({ carved, offset });
    }
  }
  return hits.sort((one, other) => one.offset - other.offset);
}
