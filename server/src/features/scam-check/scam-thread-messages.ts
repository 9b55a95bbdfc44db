import { scamAnswerSchema } from '@palisade/contract/scam-check';
import { z } from 'zod';

/** The DNS of a test: records by `name type`. */
export const zoneSchema = z.record(z.string(), z.array(z.array(z.string())));
export type Zone = z.infer<typeof zoneSchema>;

const bytesSchema = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

const inputSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('file'), name: z.string(), bytes: bytesSchema }),
]);
export type ScamInput = z.infer<typeof inputSchema>;

/** Lists of one check: the provider with its domains, files of `openHashList`, and the provider's own lists. */
const surroundingsSchema = z.object({
  provider: z.object({ name: z.string(), domains: z.array(z.string()) }),
  lists: z.array(z.object({ name: z.string(), path: z.string(), digest: z.string() })),
  trusted: z.array(z.string()),
  dangerous: z.array(z.string()),
});
export type ThreadSurroundings = z.infer<typeof surroundingsSchema>;

/** The person for whom a message is checked, and whether this check may ask the DNS. */
const personSchema = z.object({ trusted: z.array(z.string()), may_ask_dns: z.boolean() });
export type ThreadPerson = z.infer<typeof personSchema>;

/** Messages to the thread. `told` answers a question of it. */
export const toThreadSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('check'),
    id: z.int(),
    input: inputSchema,
    person: personSchema,
    surroundings: surroundingsSchema,
  }),
  z.object({ kind: z.literal('told'), id: z.int(), value: z.string().optional() }),
]);
export type ToThread = z.infer<typeof toThreadSchema>;

/** Messages of the thread. `ask`: an attachment is to be scanned by the engines, which run beside the server. */
export const fromThreadSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answer'), id: z.int(), answer: scamAnswerSchema }),
  z.object({ kind: z.literal('failed'), id: z.int(), reason: z.string() }),
  z.object({ kind: z.literal('ask'), id: z.int(), of: z.int(), name: z.string(), bytes: bytesSchema }),
]);
export type FromThread = z.infer<typeof fromThreadSchema>;
