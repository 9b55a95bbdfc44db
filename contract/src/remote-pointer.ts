import { z } from 'zod';
import { pointSchema } from './remote-signal.ts';

/** Maximum number of points of one line, and of one message. */
export const LINE_POINTS_MAXIMUM = 2_000;
const POINTS_SENT_MAXIMUM = 64;

/**
 * Messages from the technician's page to the customer's over an unordered data channel (label `pointer`), without the server: the pointer's position (null: outside),
 * drawn lines, and erasing all lines up to `id`. `order` increases with each position; `from` is the index of the first point in its line. The receiver drops invalid messages.
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
