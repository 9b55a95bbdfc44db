import { isIP } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { wireName } from './wire.ts';

/** Endings of a filter line that leave its meaning: the name and all below it. */
const WHOLE_OPTIONS = new Set(['important', 'all', 'document', 'popup']);
/** Names that hosts files have for the computer itself. */
const OWN = /^(?:localhost|.*\.localdomain|local|broadcasthost|ip6-.*|0\.0\.0\.0)$/u;
const LINE_MAXIMUM = 1000;

/** A name of a list; undefined for one that is an address, a public suffix, or no name. */
function listedName(text: string): Buffer | undefined {
  const host = text.toLowerCase().replace(/^\*\.|\.$/gu, '');
  if (!host.includes('.') || isIP(host) !== 0 || OWN.test(host)) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it tells ASCII from the rest.
  const ascii = /^[\x00-\x7f]*$/u.test(host) ? host : domainToASCII(host);
  if (!/^[a-z\d_.-]+$/u.test(ascii)) return undefined;
  // A list never blocks what belongs to many: com, co.uk, github.io.
  const { publicSuffix } = parse(ascii, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === ascii ? undefined : wireName(ascii);
}

/** `||name^`, with options that do not narrow it. */
function filterName(line: string): Buffer | undefined {
  const [, name, options] = /^\|\|([^/^$|*]+)\^?(?:\$(.*))?$/u.exec(line) ?? [];
  if (name === undefined) return undefined;
  return (options ?? '').split(',').every((option) => option === '' || WHOLE_OPTIONS.has(option)) ? listedName(name) : undefined;
}

/** The lines of a text that comes in parts. A line that is too long for a name is left empty, and never held whole. */
export async function* linesIn(parts: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let isTooLong = false;
  for await (const part of parts) {
    const [first = '', ...rest] = decoder.write(part).split('\n');
    held += first;
    isTooLong ||= held.length > LINE_MAXIMUM;
    if (isTooLong) held = '';
    const last = rest.pop();
    if (last === undefined) continue;
    yield [held, ...rest];
    held = last;
    isTooLong = false;
  }
  yield [held];
}

/**
 * Reads the lines of a list: names, a hosts file, `||name^` lines or a response policy zone, told apart line by line. Lines that say something else are left
 * out and counted.
 */
export class ListLines {
  /** The name of a response policy zone, which its absolute names end in. */
  private origin = '';
  skipped = 0;

  /** The names of a line. */
  read(text: string): Buffer[] {
    if (text.length > LINE_MAXIMUM) return this.skip();
    const line = text.trim();
    if (line === '' || /^[#!;[]/u.test(line)) return [];
    if (line.startsWith('$')) {
      const [, origin] = /^\$ORIGIN\s+(\S+?)\.?$/iu.exec(line) ?? [];
      if (origin !== undefined) this.origin = `.${origin.toLowerCase()}`;
      return [];
    }
    const names = this.namesOf(line);
    return names.length === 0 ? this.skip() : names;
  }

  private namesOf(line: string): Buffer[] {
    if (line.startsWith('||')) return [filterName(line)].filter((name) => name !== undefined);
    const comment = line.search(/\s[#;]/u);
    const words = (comment < 0 ? line : line.slice(0, comment)).trimEnd().split(/\s+/u);
    const [first = '', ...rest] = words;
    if (rest.length === 0) return [listedName(first)].filter((name) => name !== undefined);
    if (isIP(first) !== 0) return rest.map(listedName).filter((name) => name !== undefined);
    // Of a zone only the refusal `name CNAME .` blocks; other rules of it allow, or rewrite.
    const upper = rest.map((word) => word.toUpperCase());
    const at = upper.indexOf('CNAME');
    if (upper.includes('SOA')) this.origin ||= first === '@' ? '' : `.${first.toLowerCase().replace(/\.$/u, '')}`;
    const isRefusal = at >= 0 && ['.', '*.'].includes(upper[at + 1] ?? '') && !/\.rpz-/u.test(first);
    const name = listedName(this.withoutOrigin(first));
    return isRefusal && name !== undefined ? [name] : [];
  }

  private withoutOrigin(name: string): string {
    const whole = name.toLowerCase().replace(/\.$/u, '');
    return name.endsWith('.') && this.origin !== '' && whole.endsWith(this.origin) ? whole.slice(0, -this.origin.length) : whole;
  }

  private skip(): Buffer[] {
    this.skipped++;
    return [];
  }
}
