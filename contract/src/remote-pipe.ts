import { z } from 'zod';
import { idSchema } from './fields.ts';

/**
 * Messages between two servers that each have one end of a remote control: that an end is here (to all, then to the one that it pairs with), bytes of RFB in Base64, how
 * many of them were read, and that an end is gone.
 */
export const pipeSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('here'), from: idSchema, side: z.enum(['viewer', 'screen']), to: idSchema.nullable() }),
  z.object({ what: z.literal('bytes'), to: idSchema, bytes: z.string() }),
  z.object({ what: z.literal('read'), to: idSchema, bytes: z.int().min(0) }),
  z.object({ what: z.literal('gone'), to: idSchema }),
]);
