import type { Endpoint } from '@palisade/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refuseField } from './platform.refusals.ts';
import { Problem } from './problem.ts';

/** The schema of a field; undefined if the object has no such field. */
function fieldOf(schema: z.ZodObject, name: string): z.core.$ZodType | undefined {
  const shape: Record<string, z.core.$ZodType> = schema.shape;
  return shape[name];
}

/**
 * The body of a request plus the fields sent in headers, each checked by its schema in the body. Fields in the body take precedence: a page of the previous version sends
 * them there. @throws Problem `invalid_field`
 */
export function withHeaderFields(endpoint: Endpoint, { body, headers }: Pick<FastifyRequest, 'body' | 'headers'>): unknown {
  const { header_fields, body: schema } = endpoint;
  if (header_fields === undefined || !(schema instanceof z.ZodObject)) return body;
  const fields: Record<string, unknown> = z.record(z.string(), z.unknown()).catch({}).parse(body);
  for (const [name, header] of Object.entries(header_fields)) {
    const text = headers[header];
    const field = fieldOf(schema, name);
    if (fields[name] !== undefined || text === undefined || field === undefined) continue;
    const parsed = z.safeParse(field, text);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      if (issue === undefined) throw refuseField(header, 'request.header');
      throw new Problem('invalid_field', { errors: [{ field: header, message: issue.message }] });
    }
    fields[name] = parsed.data;
  }
  return fields;
}
