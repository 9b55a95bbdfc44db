import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** RFC 4648 section 6 in lower case: mail servers may change the case of an address. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_BYTES = 16;
/** 80 bits: each guess requires a mail. */
const MAC_BYTES = 10;
const TOKEN_LENGTH = Math.ceil(((ID_BYTES + MAC_BYTES) * 8) / 5);
const TOKEN = new RegExp(`(?<![${ALPHABET}])([${ALPHABET}]{${TOKEN_LENGTH}})(?=@)`, 'gi');
/** Maximum number of characters of a mail's addresses that are parsed. */
const LOOKED_AT = 16 * 1024;
function encode(bytes: Buffer): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31] ?? '';
  }
  return bits === 0 ? text : text + (ALPHABET[(value << (5 - bits)) & 31] ?? '');
}

function decode(text: string): Buffer {
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of text.toLowerCase()) {
    value = ((value << 5) | ALPHABET.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  return Buffer.from(bytes);
}

/** Reply addresses: each names its conversation, and cannot be forged without the key of the installation. */
export interface AnswerAddresses {
  of(conversation_id: string): string;
  /** The conversation of the first valid reply address; undefined if there is none. `addresses` are the raw header fields. */
  read(addresses: string): string | undefined;
}

/** Inserts the token at the `*` of the address, or after a `+` (a detail by RFC 5233). */
function withToken(address: string, token: string): string {
  if (address.includes('*')) return address.replace('*', token);
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}+${token}${address.slice(at)}`;
}

export function createAnswerAddresses({ address, key }: { address: string; key: Buffer }): AnswerAddresses {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'palisade answer addresses 1', 32));
  const macOf = (id: Buffer) => createHmac('sha256', own).update(id).digest().subarray(0, MAC_BYTES);

  return {
    of(conversation_id) {
      const id = Buffer.from(conversation_id.replaceAll('-', ''), 'hex');
      return withToken(address, encode(Buffer.concat([id, macOf(id)])));
    },

    read(addresses) {
      for (const [, token = ''] of addresses.slice(0, LOOKED_AT).matchAll(TOKEN)) {
        const bytes = decode(token);
        const id = bytes.subarray(0, ID_BYTES);
        if (timingSafeEqual(bytes.subarray(ID_BYTES), macOf(id)))
          return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      }
      return undefined;
    },
  };
}
