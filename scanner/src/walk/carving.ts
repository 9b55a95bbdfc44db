import { CARVED, type Carved, carvedById, SEARCHED } from '#scanner/formats/index.ts';
import type { Reader } from '#scanner/reading/reader.ts';

/** Prefix of the names of rules that report offsets, not threats. */
const PREFIX = 'Palisade_Carving_';

/** The carving patterns as YARA source, with one rule for each, so that each reports its own offsets. */
export function carvingSource(): string {
  return CARVED.map(({ id, pattern }) => {
    const body = pattern.startsWith('/') ? pattern : `{ ${pattern} }`;
    return `rule ${PREFIX}${id.replaceAll('-', '_')} { strings: $at = ${body} condition: $at }`;
  }).join('\n');
}

/** The format that a rule of `carvingSource` searches for; undefined for every other rule. */
export function carvedBy(rule: string): Carved | undefined {
  return rule.startsWith(PREFIX) ? carvedById(rule.slice(PREFIX.length).replaceAll('_', '-')) : undefined;
}

/** Number of bits that random bytes must have right to match a pattern. */
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

/** The pattern as an expression for bytes decoded as Latin-1, for a search beyond the matches that YARA-X reports. */
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

/** Offsets of matches, by format. `is_cut`: there are more than were reported. */
export type Places = Map<Carved, { offsets: Set<number>; is_cut: boolean }>;

/** A container that seems to begin at an offset. */
export interface Hit {
  carved: Carved;
  /** Position of the container's first byte. */
  offset: number;
}

/** Maximum length of a match. Bytes. */
const PATTERN_BYTES_MAXIMUM = 128;

const SEARCHED_BYTES = 1024 ** 2;

/** Searches the whole content for a format that has more matches than YARA-X reports. */
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

/** Containers that seem to begin in the content, in order of their offsets. */
export function hitsOf(reader: Reader, places: Places): Hit[] {
  const hits: Hit[] = SEARCHED.flatMap(({ carved, search }) => [...search(reader)].map((offset) => ({ carved, offset })));
  for (const [carved, { offsets, is_cut }] of places) {
    for (const place of is_cut ? everyPlace(reader, carved) : offsets) {
      const offset = place - (carved.back ?? 0);
      if (offset >= 0) hits.push({ carved, offset });
    }
  }
  return hits.sort((one, other) => one.offset - other.offset);
}

/** Returns a function for the end of the range from which a carved container is read: its own end if the format states it, else the next container of the same endless format; at most `limit`. */
export function extentsOf(reader: Reader, hits: readonly Hit[]): (hit: Hit, limit: number) => number {
  const places = new Map<string, number[]>();
  for (const { carved, offset } of hits) {
    if (carved.is_endless !== true) continue;
    const known = places.get(carved.id);
    if (known === undefined) places.set(carved.id, [offset]);
    else known.push(offset);
  }
  const ends = new Map<string, (at: number) => number | undefined>();
  const endOf = ({ id, endsIn }: Carved, offset: number): number | undefined => {
    if (endsIn === undefined) return undefined;
    const known = ends.get(id) ?? endsIn(reader);
    ends.set(id, known);
    return known(offset);
  };
  return ({ carved, offset }, limit) => {
    const end = endOf(carved, offset);
    if (end !== undefined) return Math.min(limit, end);
    const list = places.get(carved.id) ?? [];
    let low = 0;
    for (let high = list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((list[middle] ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return Math.min(limit, list[low] ?? limit);
  };
}
