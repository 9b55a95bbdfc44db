import { Resolver } from 'node:dns/promises';
import { z } from 'zod';

/** Answers a question to the DNS as `node:dns/promises` does. */
export type Resolve = (name: string, type: string) => Promise<string[] | string[][]>;

const recordsSchema = z.union([z.array(z.string()), z.array(z.array(z.string()))]);

/** Queries the DNS, with a limit so that a mail is read within 30 s even without an answer. */
async function byDns(name: string, type: string): Promise<string[] | string[][]> {
  return recordsSchema.parse(await new Resolver({ timeout: 3_000, tries: 2 }).resolve(name, type));
}

/** Records by `type name`, in place of the DNS. */
export type Zone = Readonly<Record<string, string[][]>>;

/** Whether the author's domain authenticates a mail; `unsure` if the DNS did not answer. */
export type MailProof = 'aligned' | 'not_aligned' | 'unsure';

const SIGNATURES_MAXIMUM = 10;
const FIELDS_LOOKED_AT = 64 * 1024;

/** A resolver that knows the records of a zone alone. */
export function resolverOf(zone: Zone): Resolve {
  return (name, type) => {
    const records = zone[`${type} ${name.toLowerCase()}`];
    return records === undefined
      ? Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
      : Promise.resolve(records);
  };
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/**
 * Whether the results of the mailbox's provider (RFC 8601) authenticate the author: only the first `Authentication-Results` of a trusted server is used, since the provider
 * writes its own above all others. DMARC must have passed for the author's domain.
 */
function isVouchedFor(author: string, fields: readonly { key: string; value: string }[], authserv_id: string): boolean {
  const first = fields.find(({ key }) => key === 'authentication-results')?.value.slice(0, FIELDS_LOOKED_AT) ?? '';
  const [said = '', ...results] = first.replaceAll(/"[^"]*"|\([^()]*\)/gu, '').split(';');
  if (said.trim().split(/\s+/u)[0]?.toLowerCase() !== authserv_id.toLowerCase()) return false;
  return results.some((result) => {
    const [method = '', ...properties] = result.trim().toLowerCase().split(/\s+/u);
    return method === 'dmarc=pass' && properties.includes(`header.from=${domainOf(author)}`);
  });
}

/**
 * Checks whether the author's domain authenticates a mail: by a DKIM signature over the whole body, aligned as its DMARC record requires. SPF concerns the address of a
 * connection that this program does not see; it counts only in the results of a trusted provider (`authserv_id`).
 */
export async function proveAuthor(
  raw: Uint8Array,
  author: string,
  fields: readonly { key: string; value: string }[],
  { authserv_id, resolve = byDns }: { authserv_id?: string | undefined; resolve?: Resolve | undefined },
): Promise<MailProof> {
  if (authserv_id !== undefined && isVouchedFor(author, fields, authserv_id)) return 'aligned';
  const signatures = fields.filter(({ key }) => key === 'dkim-signature').length;
  if (signatures === 0 || signatures > SIGNATURES_MAXIMUM) return 'not_aligned';
  // Loaded only for a mail with a signature.
  const [{ dkimVerify }, { dmarc }] = await Promise.all([
    import('mailauth/lib/dkim/verify.js'),
    import('mailauth/lib/dmarc/index.js'),
  ]);
  const { headerFrom, results } = await dkimVerify(Buffer.from(raw), { resolver: resolve, minBitLength: 1_024 });
  // Both parsers must find the same author.
  const [named, ...others] = Array.isArray(headerFrom) ? headerFrom : [headerFrom];
  if (others.length > 0 || named?.toLowerCase() !== author) return 'not_aligned';
  const passed = results.filter(({ status }) => status.result === 'pass' && (status.underSized ?? 0) === 0);
  if (passed.length === 0) return results.some(({ status }) => status.result === 'temperror') ? 'unsure' : 'not_aligned';
  const dkimDomains = passed.flatMap(({ signingDomain: domain }) => (domain === undefined ? [] : [{ domain }]));
  const policy = await dmarc({ headerFrom: [author], spfDomains: [], dkimDomains, resolver: resolve });
  const result = policy === false || policy === undefined ? 'none' : policy.status.result;
  if (result === 'pass') return 'aligned';
  if (result === 'temperror') return 'unsure';
  // A domain without a DMARC record requires no alignment: a signature by it, or by a domain above or below it, is sufficient.
  return result === 'none' && passed.some(({ status }) => Boolean(status.aligned)) ? 'aligned' : 'not_aligned';
}
