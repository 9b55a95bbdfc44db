import { z } from 'zod';
import { idSchema } from './fields.ts';

/**
 * Messages between two servers that each hold one end of a remote control: `here` announces an end (to all servers, then to the matching end), `bytes` carries RFB data in
 * Base64, `read` confirms a number of bytes, and `gone` reports that an end has left.
 */
export const pipeSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('here'), from: idSchema, side: z.enum(['viewer', 'screen']), to: idSchema.nullable() }),
  z.object({ what: z.literal('bytes'), to: idSchema, bytes: z.string() }),
  z.object({ what: z.literal('read'), to: idSchema, bytes: z.int().min(0) }),
  z.object({ what: z.literal('gone'), to: idSchema }),
]);
