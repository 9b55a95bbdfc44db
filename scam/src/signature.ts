import { getDomain } from 'tldts';
import type { ParsedEmail } from './email.ts';
import { LIMITS } from './limits.ts';
import type { Sender } from './message.ts';
import type { NotCheckedCode } from './sentences.ts';
import type { Resolve } from './surroundings.ts';

const DEADLINE_MS = 6_000;

/** The result of checking an email's signature. */
interface SignatureCheck {
  proof: Sender['proof'];
  /** The reason why it was not checked. */
  code: NotCheckedCode | undefined;
}

const organisationOf = (domain: string) => getDomain(domain, { allowPrivateDomains: true }) ?? domain;

/** Whether two domains belong to the same organisation (RFC 7489, section 3.1.1, relaxed alignment). */
const isAligned = (signing: string, author: string) =>
  organisationOf(signing.toLowerCase()) === organisationOf(author.toLowerCase());

const tagOf = (signature: string, tag: string) => new RegExp(`(?:^|;)\\s*${tag}\\s*=\\s*([^;\\s]+)`, 'u').exec(signature)?.[1];

/** DNS names of the keys of signatures by the author's domain. */
function namesOf(signatures: readonly string[], author: string): Set<string> {
  const names = signatures.flatMap((signature) => {
    const [domain, selector] = [tagOf(signature, 'd'), tagOf(signature, 's')];
    const isOfAuthor = domain !== undefined && selector !== undefined && isAligned(domain, author);
    return isOfAuthor ? [`${selector}._domainkey.${domain}`.toLowerCase()] : [];
  });
  return new Set(names);
}

/**
 * Verifies the DKIM signatures (RFC 6376) of an email. The header `Authentication-Results` is ignored, because any sender
 * can write it. It makes at most two DNS queries, for keys of the author's domain.
 */
export async function checkSignature(
  raw: Uint8Array,
  { sender, authors, signatures }: Pick<ParsedEmail, 'sender' | 'authors' | 'signatures'>,
  resolve: Resolve | undefined,
): Promise<SignatureCheck> {
  const author = sender?.address.slice(sender.address.lastIndexOf('@') + 1) ?? '';
  const names = namesOf(signatures, author);
  const asked = new Set([...names].slice(0, LIMITS.dns_questions));
  if (names.size === 0) return { proof: 'unsigned', code: 'unsigned' };
  if (resolve === undefined) return { proof: 'not_checked', code: 'no_dns' };
  // With several authors, a signature does not prove the visible author.
  if (authors !== 1) return { proof: 'failed', code: undefined };
  const resolver: Resolve = (name, type) =>
    type === 'TXT' && asked.has(name.toLowerCase())
      ? resolve(name, type)
      : Promise.reject(Object.assign(new Error('not asked for'), { code: 'ENODATA' }));
  // Loaded only for signed emails.
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const verified = dkimVerify(Buffer.from(raw), { resolver, minBitLength: 1_024 });
  const late = new Promise<undefined>((done) => setTimeout(() => done(undefined), DEADLINE_MS).unref());
  const answer = await Promise.race([verified.catch(() => undefined), late]);
  if (answer === undefined) return { proof: 'not_checked', code: 'dns_failed' };
  const { headerFrom, results } = answer;
  const [named, ...others] = Array.isArray(headerFrom) ? headerFrom : [headerFrom];
  if (others.length > 0 || named === undefined || !named.toLowerCase().endsWith(`@${author.toLowerCase()}`))
    return { proof: 'failed', code: undefined };
  const ofAuthor = results.filter(({ signingDomain }) => signingDomain !== undefined && isAligned(signingDomain, author));
  if (ofAuthor.some(({ status }) => status.result === 'pass' && (status.underSized ?? 0) === 0))
    return { proof: 'proven', code: undefined };
  if (asked.size < names.size) return { proof: 'not_checked', code: 'more_signatures' };
  if (ofAuthor.some(({ status }) => status.result === 'temperror')) return { proof: 'not_checked', code: 'dns_failed' };
  // mailauth reports a changed body as neutral, which RFC 8601, section 2.7.1, allows.
  const isBroken = ofAuthor.some(({ status }) => status.result === 'fail' || status.comment === 'body hash did not verify');
  return isBroken ? { proof: 'failed', code: undefined } : { proof: 'unsigned', code: 'unsigned' };
}
