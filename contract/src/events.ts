import { z } from 'zod';
import { scanSchema } from './antivirus.ts';
import { CLOSED, channel } from './channel.ts';
import { INSTALLATION_TOPICS, TOPICS } from './endpoint.ts';
import { idSchema } from './fields.ts';

/**
 * The events socket, `WS /api/events`: one for each signed-in page (channel.ts has the mechanism). The page says its token; the server answers `welcome`, then `event`s
 * as they happen. Each side says something at least every `heartbeat_ms`.
 */
export const EVENTS_PATH = '/events';

export const EVENTS_CLOSED = {
  ...CLOSED,
  /** The session is held until its person has set up the second factor that they must have. */
  two_factor_setup_required: 4403,
} as const;

/** What the server does with a file that is on its way to a verdict. */
export const scanProgressSchema = z.discriminatedUnion('stage', [
  /** `place` is 1 for the file that is next. */
  z.object({ stage: z.literal('queued'), place: z.int().min(1) }),
  /** `share` is how much of the file itself has been read, from 0 to 1; the members are those of all archives in it, as far as they are known. */
  z.object({
    stage: z.literal('reading'),
    engine: z.string(),
    share: z.number().min(0).max(1),
    members_read: z.int(),
    members_found: z.int(),
  }),
]);
export type ScanProgress = z.infer<typeof scanProgressSchema>;

/** What happened, to one person. */
export const liveEventSchema = z.discriminatedUnion('kind', [
  /** `upload_key` is what the page that sent the file named its upload; null when it named none. */
  z.object({
    kind: z.literal('scan_progress'),
    scan_id: idSchema,
    upload_key: z.string().nullable(),
    progress: scanProgressSchema,
  }),
  z.object({ kind: z.literal('scan_changed'), scan: scanSchema }),
  z.object({ kind: z.literal('scan_removed'), scan_id: idSchema }),
  z.object({ kind: z.literal('alerts_changed') }),
  /** Something of the account, or of the installation, is not as it was: what shows it is to be read anew. */
  z.object({ kind: z.literal('changed'), topic: z.enum([...TOPICS, ...INSTALLATION_TOPICS]) }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

/** Events of the moment: they are never told again after a gap. */
export const OF_THE_MOMENT: ReadonlySet<LiveEvent['kind']> = new Set(['scan_progress']);

/** `after` is the last event id or cursor that the page has seen: what came since is told first. */
const helloSchema = z.object({ kind: z.literal('hello'), access_token: z.string().max(128), after: idSchema.optional() });

/** What a page says. */
export const clientFrameSchema = z.discriminatedUnion('kind', [helloSchema, z.object({ kind: z.literal('pong') })]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

/** What the server says. */
export const serverFrameSchema = z.discriminatedUnion('kind', [
  /** `missed`: what came after the page's `after` is no longer known here, so it has to read anew what it shows. */
  z.object({ kind: z.literal('welcome'), cursor: idSchema, missed: z.boolean(), heartbeat_ms: z.int() }),
  /** To be answered with `pong`. */
  z.object({ kind: z.literal('ping') }),
  /** `id` is null for an event of the moment. */
  z.object({ kind: z.literal('event'), id: idSchema.nullable(), event: liveEventSchema }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** A page says two things, both short. */
export const eventsChannel = channel({
  path: EVENTS_PATH,
  hello: helloSchema,
  said: z.never(),
  told: serverFrameSchema,
  hello_bytes: 1024,
  frame_bytes: 1024,
  frames_per_heartbeat: 20,
});
