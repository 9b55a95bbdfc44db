import { z } from 'zod';
import { grantKindSchema } from './remote-grant.ts';
import { voiceSchema } from './remote-record.ts';

/** The longest description of a connection (SDP), in characters. */
export const SDP_LENGTH_MAXIMUM = 64 * 1024;
/** Signals of one page in a second; one longer than a KiB counts once for each that it has. So many may come at once. */
export const SIGNALS = { per_second: 50, at_once: 100 } as const;
/** Shares (connections) that one customer may have at a time: as many as they have monitors. */
export const SHARES_MAXIMUM = 4;

const LONGEST = { candidate: 1_024, word: 256 } as const;
const LINES_MAXIMUM = 64;

/** The customer's id of one connection; every try has a name of its own. */
export const connectionIdSchema = z.uuid('This isn’t a connection name.');

/** A place in the picture: 0 is its left or upper edge, 1 its right or lower one. */
export const coordinateSchema = z.number().min(0).max(1);
export const pointSchema = z.object({ x: coordinateSchema, y: coordinateSchema });
export type Point = z.infer<typeof pointSchema>;

const sdpSchema = z.string().min(1).max(SDP_LENGTH_MAXIMUM);

const candidate = z.object({
  type: z.literal('candidate'),
  connection_id: connectionIdSchema,
  /** Empty: there are no more. */
  candidate: z.string().max(LONGEST.candidate),
  sdp_mid: z.string().max(LONGEST.word).nullable(),
  sdp_mline_index: z.int().min(0).max(LINES_MAXIMUM).nullable(),
  username_fragment: z.string().max(LONGEST.word).nullable(),
});

/** New state of this side's voice. */
const voice = z.object({ type: z.literal('voice'), state: voiceSchema });

/** Signals of the customer's page. Only it offers; what it sends is seen, never heard to be steered. */
const ofCustomer = [
  z.object({ type: z.literal('offer'), connection_id: connectionIdSchema, sdp: sdpSchema }),
  /** The picker is open, or was refused: the minute in which the customer has to answer starts again. */
  z.object({ type: z.literal('choosing') }),
  z.object({
    type: z.literal('share_started'),
    connection_id: connectionIdSchema,
    /** The shown surface: `displaySurface` of the track, where the browser says it. */
    surface: z.enum(['monitor', 'window', 'browser']).nullable(),
  }),
  /** With null every share has ended. */
  z.object({ type: z.literal('share_stopped'), connection_id: connectionIdSchema.nullable() }),
  z.object({ type: z.literal('paused') }),
  z.object({ type: z.literal('resumed') }),
] as const;

/** Signals of the technician's page. */
const ofTechnician = [
  /** It has no picture (any more): the customer's page makes a new offer for what it shares. */
  z.object({ type: z.literal('offer_wanted') }),
  z.object({ type: z.literal('answer'), connection_id: connectionIdSchema, sdp: sdpSchema }),
  /** Both have turned their voice on, and it hears nothing (any more): the customer's page makes a new offer for the voices. */
  z.object({ type: z.literal('voice_wanted') }),
  /** Asks for a grant; the customer's page asks its person, who grants it or does not. */
  z.object({ type: z.literal('grant_wanted'), grant: grantKindSchema }),
  /** For pages without a channel between them. */
  z.object({ type: z.literal('pointer'), at: pointSchema.nullable() }),
] as const;

/** A signal of one page to the other through the server. */
export const customerSignalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofCustomer]);
export const technicianSignalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofTechnician]);
export const signalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofCustomer, ...ofTechnician]);
export type CustomerSignal = z.infer<typeof customerSignalSchema>;
export type TechnicianSignal = z.infer<typeof technicianSignalSchema>;
export type Signal = z.infer<typeof signalSchema>;
