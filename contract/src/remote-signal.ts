import { z } from 'zod';
import { grantKindSchema } from './remote-grant.ts';
import { voiceSchema } from './remote-record.ts';

/** Maximum length of a session description (SDP), in characters. */
export const SDP_LENGTH_MAXIMUM = 64 * 1024;
/** Rate limit and burst size of one page's signals; a signal longer than 1 KiB counts once for each KiB. */
export const SIGNALS = { per_second: 50, at_once: 100 } as const;
/** Maximum number of concurrent shares (connections) of one customer, one for each monitor. */
export const SHARES_MAXIMUM = 4;

const LONGEST = { candidate: 1_024, word: 256 } as const;
const LINES_MAXIMUM = 64;

/** The id of a connection, assigned by the customer's page and new for each attempt. */
export const connectionIdSchema = z.uuid('This isn’t a connection name.');

/** A position in the picture: 0 is the left or upper edge, 1 the right or lower one. */
export const coordinateSchema = z.number().min(0).max(1);
export const pointSchema = z.object({ x: coordinateSchema, y: coordinateSchema });
export type Point = z.infer<typeof pointSchema>;

const sdpSchema = z.string().min(1).max(SDP_LENGTH_MAXIMUM);

const candidate = z.object({
  type: z.literal('candidate'),
  connection_id: connectionIdSchema,
  /** Empty after the last candidate. */
  candidate: z.string().max(LONGEST.candidate),
  sdp_mid: z.string().max(LONGEST.word).nullable(),
  sdp_mline_index: z.int().min(0).max(LINES_MAXIMUM).nullable(),
  username_fragment: z.string().max(LONGEST.word).nullable(),
});

/** The new state of this side's voice. */
const voice = z.object({ type: z.literal('voice'), state: voiceSchema });

/** Signals of the customer's page. Only this side makes offers. */
const ofCustomer = [
  z.object({ type: z.literal('offer'), connection_id: connectionIdSchema, sdp: sdpSchema }),
  /** The screen picker is open, or was dismissed: the minute for the customer's answer restarts. */
  z.object({ type: z.literal('choosing') }),
  z.object({
    type: z.literal('share_started'),
    connection_id: connectionIdSchema,
    /** The shared surface: the track's `displaySurface`, if the browser reports it. */
    surface: z.enum(['monitor', 'window', 'browser']).nullable(),
  }),
  /** Null if all shares have ended. */
  z.object({ type: z.literal('share_stopped'), connection_id: connectionIdSchema.nullable() }),
  z.object({ type: z.literal('paused') }),
  z.object({ type: z.literal('resumed') }),
] as const;

/** Signals of the technician's page. */
const ofTechnician = [
  /** It receives no picture: the customer's page makes a new offer for its shares. */
  z.object({ type: z.literal('offer_wanted') }),
  z.object({ type: z.literal('answer'), connection_id: connectionIdSchema, sdp: sdpSchema }),
  /** Both voices are on, but it receives none: the customer's page makes a new offer for the voices. */
  z.object({ type: z.literal('voice_wanted') }),
  /** Requests a grant; the customer's page asks the customer, who grants it or not. */
  z.object({ type: z.literal('grant_wanted'), grant: grantKindSchema }),
  /** For pages without a data channel. */
  z.object({ type: z.literal('pointer'), at: pointSchema.nullable() }),
] as const;

/** A signal from one page to the other, sent through the server. */
export const customerSignalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofCustomer]);
export const technicianSignalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofTechnician]);
export const signalSchema = z.discriminatedUnion('type', [candidate, voice, ...ofCustomer, ...ofTechnician]);
export type CustomerSignal = z.infer<typeof customerSignalSchema>;
export type TechnicianSignal = z.infer<typeof technicianSignalSchema>;
export type Signal = z.infer<typeof signalSchema>;
