import { z } from 'zod';
import { pointSchema } from './remote-signal.ts';

/** Points of one line, and of one message. */
export const LINE_POINTS_MAXIMUM = 2_000;
const POINTS_SENT_MAXIMUM = 64;

/**
 * Messages of the technician's page to the customer's on their own unordered channel (label `pointer`), without the server: where the pointer is (null: nowhere), lines that
 * are drawn, and that every line up to one is wiped away. `order` tells an older pointer from a newer one, `from` where in its line the first point stands. The receiver drops a message that does not fit.
 */
export const pointerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pointer'), order: z.int().min(0), at: pointSchema.nullable() }),
  z.object({
    kind: z.literal('stroke'),
    id: z.int().min(0),
    from: z.int().min(0).max(LINE_POINTS_MAXIMUM),
    points: z.array(pointSchema).min(1).max(POINTS_SENT_MAXIMUM),
  }),
  z.object({ kind: z.literal('erase'), id: z.int().min(0) }),
]);
export type Pointer = z.infer<typeof pointerSchema>;
