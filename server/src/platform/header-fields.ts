import type { Endpoint } from '@palisade/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Problem } from './problem.ts';

/**
 * The body of a request with the fields that travel in headers, each held to its schema in the body. What stands in the body itself wins: a page of the version before
 * writes it there. @throws Problem `invalid_field`
 */
export function withHeaderFields(endpoint: Endpoint, { body, headers }: Pick<FastifyRequest, 'body' | 'headers'>): unknown {
  const { header_fields, body: schema } = endpoint;
  if (header_fields === undefined || !(schema instanceof z.ZodObject)) return body;
  const fields: Record<string, unknown> = { ...Object(body) };
  for (const [name, header] of Object.entries(header_fields)) {
    const text = headers[header];
    const field: z.ZodType | undefined = schema.shape[name];
    if (fields[name] !== undefined || text === undefined || field === undefined) continue;
    const parsed = field.safeParse(text);
    if (!parsed.success) {
      const message = parsed.error.issues[0]?.message ?? 'This header cannot be read.';
      throw new Problem('invalid_field', { errors: [{ field: header, message }] });
    }
    fields[name] = parsed.data;
  }
  return fields;
}
