import { parseIp, printIp } from './ip-address.ts';

/** Corrections of common typing errors in the fields of a rule. Parsing is elsewhere; an invalid field is answered with a sentence. */

/** Replaces look-alike characters: full-width digits, and colons and commas of other keyboards. Undefined if there are none. */
export function plainForm(text: string): string | undefined {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/[\u3001\u060c]/gu, ',')
    .replaceAll('\u3002', '.');
  return plain === text ? undefined : plain;
}

/** Spellings of "all addresses" or "all ports" in other firewalls. */
const EVERY_WORDS =
  /^(?:all|any(?:where|thing|4|6|\/any)?|every(?:thing|where|one)?|internet|world|all (?:ports|addresses|ips?)|any (?:port|address|ip)|\*\.\*\.\*\.\*|\*:\*|\*\/\*)$/iu;
export const meansEvery = (text: string) => EVERY_WORDS.test(text.trim());

/** Entries separated by spaces, semicolons, bars or line breaks instead of commas. Undefined if there is only one entry. */
export function dividedByOther(text: string, isEntry: (part: string) => boolean): string | undefined {
  const parts = text.split(/[\s;|+&]+|\s+(?:and|or)\s+/iu).filter((part) => part !== '' && !/^(?:and|or)$/iu.test(part));
  return parts.length > 1 && parts.every(isEntry) ? parts.join(', ') : undefined;
}

/** A range with a separator other than a hyphen. */
export function hyphenated(text: string, isEnd: (part: string) => boolean): string | undefined {
  const [, from = '', to = ''] = /^(\S+?)\s*(?:\.\.+|:|~|\bto\b|\buntil\b|\bthrough\b|->|--+)\s*(\S+)$/iu.exec(text) ?? [];
  return from !== '' && isEnd(from) && isEnd(to) ? `${from}-${to}` : undefined;
}

const isPort = (text: string) => /^[1-9][0-9]{0,4}$/u.test(text) && Number(text) <= 65_535;

/** The probable meaning of an invalid port; undefined if it cannot be guessed. */
export function portMeant(text: string): string | undefined {
  const entry = text.trim();
  const range = hyphenated(entry, isPort);
  if (range !== undefined) return range;
  const [, bare = ''] =
    /^(?:tcp|udp|port|ports|tcp\/|udp\/|dport)?\s*[:/=#]?\s*([0-9]+(?:-[0-9]+)?)(?:\s*\/\s*(?:tcp|udp|tcp\+udp|any)|\s*\([a-z][a-z -]*\))?$/iu.exec(
      entry.replace(/^[a-z][a-z -]*\s*\(([0-9-]+)\)$/iu, '$1'),
    ) ?? [];
  if (bare !== '' && bare !== entry && bare.split('-').every(isPort)) return bare;
  const [, sign = '', number = ''] = /^([<>]=?|=)\s*([0-9]{1,5})$/u.exec(entry) ?? [];
  if (isPort(number)) {
    const port = Number(number);
    const first = sign === '>' ? port + 1 : port;
    const last = sign === '<' ? port - 1 : port;
    if (sign === '=') return number;
    if (sign.startsWith('>')) return first < 65_535 ? `${first}-65535` : '65535';
    return last > 1 ? `1-${last}` : '1';
  }
  const [, open = ''] = /^([0-9]{1,5})\s*(?:-|\+|:|\.\.+)\s*$/u.exec(entry) ?? [];
  return isPort(open) && open !== '65535' && /[+:.]$/u.test(entry) ? `${open}-65535` : undefined;
}

/** The address in a text with parts that belong elsewhere: a port, a protocol, a path, brackets, a zone. */
export interface AddressMeant {
  address: string;
  port?: string;
  has_zone?: boolean;
}

const isAddress = (text: string) => {
  const [address = '', length, ...rest] = text.split('/');
  return rest.length === 0 && parseIp(address) !== undefined && (length === undefined || /^[0-9]{1,3}$/u.test(length));
};
const isAddressOrRange = (text: string) => isAddress(text) || (text.split('-').length === 2 && text.split('-').every(isAddress));

/** The probable meaning of an invalid address; undefined if it cannot be guessed. */
export function addressMeant(text: string): AddressMeant | undefined {
  const inUrl = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//iu, '');
  const isUrl = inUrl !== text.trim();
  const entry = isUrl ? (inUrl.split(/[/?#]/u)[0] ?? '') : inUrl;
  const zoned = entry.replaceAll(/%[^\s\]/,-]+/gu, '');
  const [, inside = '', after = ''] = /^\[([^\]]*)\](.*)$/u.exec(zoned) ?? [];
  const has_zone = zoned !== entry;
  if (inside !== '' && isAddress(inside)) {
    const [, port] = /^:([0-9]{1,5})$/u.exec(after) ?? [];
    const [, length] = /^(\/[0-9]{1,3})$/u.exec(after) ?? [];
    if (after === '' || port !== undefined || length !== undefined)
      return { address: `${inside}${length ?? ''}`, ...(port === undefined ? {} : { port }), has_zone };
  }
  // A port after an IPv6 address without brackets is ambiguous, so only IPv4 is split here.
  const [, host = '', port] = /^([0-9./-]+)(?::|\s+port\s+|#)([0-9]{1,5}(?:[-:][0-9]{1,5})?)$/u.exec(zoned) ?? [];
  if (port !== undefined && isAddressOrRange(host)) return { address: host, port: port.replace(':', '-') };
  const [, alone = ''] = /^([^/]+)\/(?:tcp|udp|any)?$/iu.exec(zoned) ?? [];
  if (isAddress(alone)) return { address: alone };
  if (has_zone && isAddressOrRange(zoned)) return { address: zoned, has_zone };
  if (isUrl && isAddress(zoned)) return { address: zoned };
  return undefined;
}

/** Removes leading zeros from IPv4 numbers, IPv6 groups and prefix lengths; undefined if there are none or the result is not an address. */
export function withoutLeadingZeros(text: string): string | undefined {
  const [address = '', length] = text.split('/');
  const plain = address.includes(':')
    ? address
        .replaceAll(/(?<=^|:)0+(?=[0-9a-f]{1,4}(?::|$))/giu, '')
        .replaceAll(/(?<=[:.])0+(?=[0-9]+(?:\.|$))/gu, (zeros, at: number, whole: string) =>
          whole.slice(at).includes('.') || whole.slice(0, at).includes('.') ? '' : zeros,
        )
    : address.replaceAll(/(?<=^|\.)0+(?=[0-9])/gu, '');
  const meant = length === undefined ? plain : `${plain}/${length.replace(/^0+(?=[0-9])/u, '')}`;
  return meant !== text && parseIp(plain) !== undefined ? meant : undefined;
}

/** Completes a short form of a network, such as `10/8` or `192.168.1`. */
export function networkMeant(text: string): string | undefined {
  const [, numbers = '', length] = /^((?:[0-9]{1,3}\.){0,2}[0-9]{1,3})\.?(?:\/([0-9]{1,2}))?$/u.exec(text) ?? [];
  if (numbers === '' || (length === undefined && !text.includes('.'))) return undefined;
  const parts = numbers.split('.');
  const address = parseIp([...parts, '0', '0', '0'].slice(0, 4).join('.'));
  return address === undefined ? undefined : `${printIp(address)}/${length ?? parts.length * 8}`;
}

/** The address in a negation of other firewalls ("all but"), such as `!10.0.0.1`; undefined for anything else. */
export function exceptedAddress(text: string): string | undefined {
  const [, excepted = ''] = /^(?:!|not\s|~|except\s|all but\s)\s*(\S+)$/iu.exec(text.trim()) ?? [];
  return isAddress(excepted) ? excepted : undefined;
}
