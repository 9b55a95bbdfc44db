import { z } from 'zod';
import { deviceTokenSchema } from './agent.ts';
import { CLOSED } from './channel.ts';
import { idSchema } from './fields.ts';
import { GRANT_ENDS } from './remote-grant.ts';

/**
 * The channel for RFB bytes (RFC 6143) between the technician's page and the agent of the device that they may see or control. Both connect to the server and send
 * `hello` as JSON; the server replies with `paired` once both are connected, and then forwards binary frames unchanged. A pair ends when one side leaves: the other reconnects, and RFB starts again. Permissions are checked twice: the server admits only sides with the grant and ends the pair with it, and the agent drops what is not granted.
 */
export const VIEWER_PATH = '/remote/control';
export const SCREEN_PATH = '/agent/control';

/** Both paths, for the server's list of sockets. */
export const CONTROL_SOCKETS = [{ path: VIEWER_PATH }, { path: SCREEN_PATH }] as const;

/** Maximum size of a frame, and of the data buffered for a side that does not read, in bytes. */
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

/** Frame of the server to each side, besides bytes: the other side is connected, and RFB begins. */
export const pairedSchema = z.object({ kind: z.literal('paired') });

/** The reason why an agent ends control. The grants of control end with it. */
export const screenEndsSchema = z.object({
  kind: z.literal('ends'),
  why: z.enum(GRANT_ENDS).extract(['own_input', 'unavailable', 'malformed']),
  detail: z.string().max(300).nullable(),
});
export type ScreenEnds = z.infer<typeof screenEndsSchema>;

export const RFB_CLOSED = {
  ...CLOSED,
  /** The other side left or reconnected: connect again, and RFB starts again. */
  again: 4412,
  /** There is no grant, or it has ended. */
  not_granted: 4403,
} as const;
