import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { BadHashList } from './hash-list.ts';

// Converts a list of dangerous domains and addresses to SHA-256 sums of its entries, so that a million of them are searched in a file like sums of files.

const LINE_CHARACTERS_MAXIMUM = 2_000;
const LINES_AT_ONCE = 4_096;
/** Addresses that block lists in the format of a hosts file assign to every name. */
const HOSTS_FILE = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+/u;
/** Names of the local machine, with which such files begin. */
const OWN_NAMES = /^(?:localhost|localhost\.localdomain|local|broadcasthost|ip6-\S+|0\.0\.0\.0)$/u;
const HOST = /^(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/u;
/** A block rule of the form `||host^`, which lists the whole host. */
const BLOCK_RULE = /^\|\|([^/^$]+)\^?$/u;

/** The sum of an entry (a host, or a host with a path, without scheme and fragment), in hex. */
export function domainSum(entry: string): string {
  return createHash('sha256').update(`scam ${entry}`).digest('hex');
}

/** The entry of an address: host, path and query, as `Address.isListed` of the scam check looks them up. An origin without a path lists the host. */
function entryOfAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, pathname, search } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  const host = hostname.replace(/\.$/u, '');
  return pathname === '/' && search === '' ? host : `${host}${pathname}${search}`;
}

/** The entry of one field; undefined if there is none. */
function entryOf(field: string): string | undefined {
  const text = field.trim().replace(/^"(.*)"$/u, '$1');
  if (/^https?:\/\//iu.test(text)) return entryOfAddress(text);
  const host = (BLOCK_RULE.exec(text)?.[1] ?? text).replace(/^\*\./u, '').replace(/\.$/u, '').toLowerCase();
  return HOST.test(host) && !OWN_NAMES.test(host) ? host : undefined;
}

/** The entry of a line: the whole line, the name in a hosts file, or a field of CSV (URLhaus and PhishTank have a column of addresses). */
function entryOfLine(line: string): string | undefined {
  const whole = entryOf(line.replace(HOSTS_FILE, '').replace(/\s+#.*$/u, ''));
  if (whole !== undefined || !/[,;\t]/u.test(line)) return whole;
  for (const [, quoted, plain = ''] of line.matchAll(/(?:^|[,;\t])\s*(?:"((?:[^"]|"")*)"|([^,;\t"]*))/gu)) {
    const field = quoted ?? plain;
    // Other fields may look like hosts: of CSV only whole addresses count, or a name in the first column.
    if (/^https?:\/\//iu.test(field.trim())) return entryOf(field);
  }
  return entryOf(line.split(/[,;\t]/u, 1)[0] ?? '');
}

/**
 * Writes the sums of a list of domains and addresses (one on a line, a hosts file, block rules, or CSV with addresses; `#`, `!`, `;` and `//` begin a comment) to
 * `target`, for `buildHashList`. `lines`: number of lines without an entry.
 * @throws BadHashList for a list without an entry, and with `strict` for a line without one.
 */
export async function writeDomainSums(source: string, target: string, strict: boolean): Promise<{ lines: number }> {
  const file = await open(target, 'wx', 0o600);
  let waiting: string[] = [];
  let entries = 0;
  let lines = 0;
  let number = 0;
  const flush = async () => {
    await file.writeFile(waiting.join(''));
    waiting = [];
  };
  try {
    for await (const line of createInterface({ input: createReadStream(source), crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const text = line.slice(0, LINE_CHARACTERS_MAXIMUM).trim();
      if (text === '' || /^(?:#|!|;|\/\/)/u.test(text)) continue;
      const entry = entryOfLine(text);
      if (entry === undefined) {
        lines += 1;
        if (strict) throw new BadHashList(`Line ${number} of the list has no domain or address.`);
        continue;
      }
      entries += 1;
      waiting.push(`${domainSum(entry)}\n`);
      if (waiting.length >= LINES_AT_ONCE) await flush();
    }
    await flush();
  } finally {
    await file.close();
  }
  if (entries === 0) throw new BadHashList('The list holds no domain or address.');
  return { lines };
}
