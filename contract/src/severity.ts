import { z } from 'zod';

/** Severity of an alert or a step, lowest first. */
export const severitySchema = z.enum(['low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof severitySchema>;
