import { addressParser } from 'postal-mime';

/** The author of a mail: one address, or the reason why there is no single author. */
export type MailAuthor = { address: string } | { address: undefined; fault: 'no_author' | 'several_authors' | 'other_sender' };

interface Field {
  key: string;
  value: string;
}

const ADDRESS_LENGTH_MAXIMUM = 254;
const FIELD_LENGTH_MAXIMUM = 4_096;
/** One address without anything that two programs could read differently: no quotes, comments, routes or second `@` (RFC 5322 section 3.4.1 allows them; no account has one). */
const PLAIN_ADDRESS = /^[^\s<>()[\]",:;\\@]+@[^\s<>()[\]",:;\\@]+$/u;

/** The single address of a field, in lower case; undefined if there is none, several, or a group. */
function onlyAddress(value: string): string | undefined {
  if (value.length > FIELD_LENGTH_MAXIMUM) return undefined;
  // Count addresses without the display names: programs differ in which of two addresses they use.
  const bare = value.replaceAll(/"(?:[^"\\]|\\.)*"|=\?[^?\s]*\?[bq]\?[^?\s]*\?=|\([^()]*\)/giu, ' ');
  if (bare.split('@').length !== 2 || bare.split('<').length > 2) return undefined;
  const [only, ...others] = addressParser(value);
  if (only === undefined || others.length > 0 || 'group' in only) return undefined;
  const address = (only.address ?? '').trim().toLowerCase();
  return address.length <= ADDRESS_LENGTH_MAXIMUM && PLAIN_ADDRESS.test(address) ? address : undefined;
}

/**
 * The author of a mail by its header (RFC 5322 section 3.6.2). Two `From` fields, several addresses in one, groups, and a different `Sender` mean that there is no single
 * author: otherwise the sender could choose the displayed author.
 */
export function authorOf(fields: readonly Field[]): MailAuthor {
  const values = (name: string) => fields.filter(({ key }) => key === name).map(({ value }) => value);
  const [from, ...otherFroms] = values('from');
  if (from === undefined || from.trim() === '') return { address: undefined, fault: 'no_author' };
  const address = otherFroms.length === 0 ? onlyAddress(from) : undefined;
  if (address === undefined) return { address: undefined, fault: 'several_authors' };
  const senders = [...values('sender'), ...values('resent-from'), ...values('resent-sender')];
  if (senders.some((sender) => onlyAddress(sender) !== address)) return { address: undefined, fault: 'other_sender' };
  return { address };
}
