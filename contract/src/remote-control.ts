import { z } from 'zod';
import { deviceTokenSchema } from './agent.ts';
import { CLOSED } from './channel.ts';
import { idSchema } from './fields.ts';
import { GRANT_ENDS } from './remote-grant.ts';

/**
 * The pipe of RFB bytes (RFC 6143) between the technician's page and the agent of the device that they may see or control. Both open a socket to the server, each says
 * `hello` in a JSON text and is answered `paired` once the other is there; then binary frames pass as they are. A pair lasts until one of the two leaves: the other reconnects, and RFB starts again. Permissions are checked twice: the server admits only a side with the grant and ends the pair with it, and the agent drops what is not granted.
 */
export const VIEWER_PATH = '/remote/control';
export const SCREEN_PATH = '/agent/control';

/** The two, where a server lists what may be a socket. */
export const CONTROL_SOCKETS = [{ path: VIEWER_PATH }, { path: SCREEN_PATH }] as const;

/** The largest frame of either side, and the bytes that may be on their way to a side that does not read. */
export const RFB_FRAME_BYTES = 256 * 1024;
export const RFB_WAITING_BYTES = 1024 ** 2;
const HELLO_BYTES_MAXIMUM = 1024;

export { HELLO_BYTES_MAXIMUM as RFB_HELLO_BYTES };

export const viewerHelloSchema = z.object({
  kind: z.literal('hello'),
  access_token: z.string().max(128),
  session_id: idSchema,
});
export const screenHelloSchema = z.object({
  kind: z.literal('hello'),
  device_id: idSchema,
  token: deviceTokenSchema,
  session_id: idSchema,
});

/** Frames of the server to either side, beside bytes: the other is there, and RFB begins. */
export const pairedSchema = z.object({ kind: z.literal('paired') });

/** Why an agent ends it. The grants of control go with it. */
export const screenEndsSchema = z.object({
  kind: z.literal('ends'),
  why: z.enum(GRANT_ENDS).extract(['own_input', 'unavailable', 'malformed']),
  detail: z.string().max(300).nullable(),
});
export type ScreenEnds = z.infer<typeof screenEndsSchema>;

export const RFB_CLOSED = {
  ...CLOSED,
  /** The other side left, or is connected again: connect again, and RFB starts again. */
  again: 4412,
  /** It is not granted, or not any more. */
  not_granted: 4403,
} as const;
