import { isIP } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { wireName } from './wire.ts';

/** Options of a filter line that do not narrow it: it still blocks the name and its subdomains. */
const WHOLE_OPTIONS = new Set(['important', 'all', 'document', 'popup']);
/** Names of the computer itself in hosts files. */
const OWN = /^(?:localhost|.*\.localdomain|local|broadcasthost|ip6-.*|0\.0\.0\.0)$/u;
const LINE_MAXIMUM = 1000;

/** A name in wire format; undefined for an address, a public suffix, or an invalid name. */
function listedName(text: string): Buffer | undefined {
  const host = text.toLowerCase().replace(/^\*\.|\.$/gu, '');
  if (!host.includes('.') || isIP(host) !== 0 || OWN.test(host)) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it tells ASCII from the rest.
  const ascii = /^[\x00-\x7f]*$/u.test(host) ? host : domainToASCII(host);
  if (!/^[a-z\d_.-]+$/u.test(ascii)) return undefined;
  // Public suffixes such as com, co.uk and github.io are never blocked.
  const { publicSuffix } = parse(ascii, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === ascii ? undefined : wireName(ascii);
}

/** The name of a filter line `||name^`; undefined if options narrow it. */
function filterName(line: string): Buffer | undefined {
  const [, name, options] = /^\|\|([^/^$|*]+)\^?(?:\$(.*))?$/u.exec(line) ?? [];
  if (name === undefined) return undefined;
  return (options ?? '').split(',').every((option) => option === '' || WHOLE_OPTIONS.has(option)) ? listedName(name) : undefined;
}

/** Splits a stream into lines. A line that is too long for a name becomes an empty line, so that memory stays limited. */
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
 * Parses the lines of a list: plain names, a hosts file, `||name^` filters or a response policy zone, recognized line by line. Other lines are skipped
 * and counted.
 */
export class ListLines {
  /** The origin of a response policy zone, the suffix of its absolute names. */
  private origin = '';
  skipped = 0;

  /** The names in a line. */
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
    // In a response policy zone, `name CNAME .` and `name CNAME *.` block; other rules allow or rewrite.
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
