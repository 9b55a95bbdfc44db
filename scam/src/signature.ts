import type { Sender } from './message.ts';
import type { NotCheckedCode } from './sentences.ts';
import type { Resolve } from './surroundings.ts';

const SIGNATURES_MAXIMUM = 10;
const DEADLINE_MS = 6_000;

/** The result for the signature of an email. */
export interface SignatureCheck {
  proof: Sender['proof'];
  /** Why it was not checked. */
  code: NotCheckedCode | undefined;
}

/** Domains of one organisation: one is the other or lies below it. */
const isAligned = (signing: string, author: string) =>
  signing === author || author.endsWith(`.${signing}`) || signing.endsWith(`.${author}`);

/**
 * Verifies the DKIM signatures (RFC 6376) of an email anew. The email's own `Authentication-Results` is never read: any sender
 * can write it.
 * `author`: the domain of the From address, which a signature must be of.
 */
export async function checkSignature(
  raw: Uint8Array,
  author: string,
  signatures: number,
  resolve: Resolve | undefined,
): Promise<SignatureCheck> {
  if (signatures === 0 || signatures > SIGNATURES_MAXIMUM) return { proof: 'unsigned', code: 'unsigned' };
  if (resolve === undefined) return { proof: 'not_checked', code: 'no_dns' };
  // Loaded for a signed email alone.
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const verified = dkimVerify(Buffer.from(raw), { resolver: resolve, minBitLength: 1_024 });
  const late = new Promise<undefined>((done) => setTimeout(() => done(undefined), DEADLINE_MS).unref());
  const answer = await Promise.race([verified.catch(() => undefined), late]);
  if (answer === undefined) return { proof: 'not_checked', code: 'dns_failed' };
  const { headerFrom, results } = answer;
  const [named, ...others] = Array.isArray(headerFrom) ? headerFrom : [headerFrom];
  // Two authors, or another one than people see, prove nothing.
  if (others.length > 0 || named === undefined || !named.toLowerCase().endsWith(`@${author}`))
    return { proof: 'failed', code: undefined };
  const ofAuthor = results.filter(
    ({ signingDomain }) => signingDomain !== undefined && isAligned(signingDomain.toLowerCase(), author),
  );
  if (ofAuthor.some(({ status }) => status.result === 'pass' && (status.underSized ?? 0) === 0))
    return { proof: 'proven', code: undefined };
  if (results.some(({ status }) => status.result === 'temperror')) return { proof: 'not_checked', code: 'dns_failed' };
  // A changed body is reported as neutral (RFC 8601, section 2.7.1, leaves it open).
  const isBroken = ofAuthor.some(({ status }) => status.result === 'fail' || status.comment === 'body hash did not verify');
  return isBroken ? { proof: 'failed', code: undefined } : { proof: 'unsigned', code: 'unsigned' };
}
