import { readdirSync } from 'node:fs';
import type { Access } from '@palisade/contract/endpoint';
import { z } from 'zod';

const CONTRACT = new URL('../../contract/src/', import.meta.url);

const endpointSchema = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string().startsWith('/'),
  access: z.enum(['anyone', 'customer', 'premium', 'support', 'admin']),
  while_held: z.literal(true).optional(),
  by_device: z.literal(true).optional(),
  status: z.int(),
  upload: z.string().optional(),
  query: z.instanceof(z.ZodType).optional(),
  body: z.instanceof(z.ZodType).optional(),
});

/** Any endpoint of the contract, as far as a test that goes through all of them needs it. */
export interface AnyEndpoint {
  /** `GET /antivirus/scans`. */
  key: string;
  method: string;
  path: string;
  access: Access;
  while_held: true | undefined;
  by_device: boolean;
  /** HTTP status of success. */
  status: number;
  hasBody: boolean;
  upload: string | undefined;
  query: z.ZodType | undefined;
  body: z.ZodType | undefined;
}

/** Every endpoint that the contract exports, from any file. */
export async function allEndpoints(): Promise<AnyEndpoint[]> {
  const files = readdirSync(CONTRACT).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    files.map(async (name) => z.record(z.string(), z.unknown()).parse({ ...(await import(new URL(name, CONTRACT).href)) })),
  );
  return modules
    .flatMap((exported) => Object.values(exported))
    .flatMap((value) => endpointSchema.safeParse(value).data ?? [])
    .map((endpoint) => ({
      ...endpoint,
      key: `${endpoint.method} ${endpoint.path}`,
      while_held: endpoint.while_held,
      by_device: endpoint.by_device === true,
      hasBody: endpoint.body !== undefined,
      upload: endpoint.upload,
      query: endpoint.query,
      body: endpoint.body,
    }));
}
