import { z } from 'zod';
import { scanSchema } from './antivirus.ts';
import { endpoint } from './endpoint.ts';
import { idParamsSchema } from './fields.ts';

/** A public page: a web address, because screens make a link of it. */
export const referenceSchema = z.url({ protocol: /^https?$/ }).nullable();

/** What the signatures say of the threat they found: one plain sentence, how grave it is, and a public page about it. */
export const threatFactsSchema = z.object({
  description: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  reference: referenceSchema,
});
export type ThreatFacts = z.infer<typeof threatFactsSchema>;

/** One scan with everything that is known of it. */
export const scanDetailSchema = scanSchema.extend({
  threat_facts: threatFactsSchema.nullable(),
  /** What was found is one of the industry's harmless test files. */
  is_test_file: z.boolean(),
});
export type ScanDetail = z.infer<typeof scanDetailSchema>;

export const readScan = endpoint({
  method: 'GET',
  path: '/antivirus/scans/{id}',
  summary: 'One scan with everything that is known of it.',
  access: 'customer',
  params: idParamsSchema,
  status: 200,
  reply: scanDetailSchema,
  problems: [],
});

export const deleteScan = endpoint({
  method: 'DELETE',
  path: '/antivirus/scans/{id}',
  summary: 'Take a scan out of the history, with whatever is kept of its file.',
  access: 'customer',
  params: idParamsSchema,
  status: 204,
  problems: [],
});
