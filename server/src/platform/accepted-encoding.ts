import type { FastifyRequest } from 'fastify';

/** True if a client takes an encoding (RFC 9110 section 12.5.3). Split, because an expression takes quadratic time for a header of blanks. */
function takes(accepted: string, encoding: string): boolean {
  const entries = accepted.split(',').map((entry) => entry.split(';').map((part) => part.trim().toLowerCase()));
  const entry = entries.find(([name]) => name === encoding);
  const weight = entry?.find((part) => part.startsWith('q='))?.slice(2);
  return entry !== undefined && (weight === undefined || Number(weight) > 0);
}

/** The smallest encoding that a client takes; undefined for the content as it is. */
export function acceptedEncoding({ headers }: Pick<FastifyRequest, 'headers'>): 'br' | 'gzip' | undefined {
  const accepted = String(headers['accept-encoding'] ?? '');
  return (['br', 'gzip'] as const).find((encoding) => takes(accepted, encoding));
}
