import { type ClientFrame, EVENTS_PATH, type LiveEvent, type ServerFrame, serverFrameSchema } from '@palisade/contract/events';
import { eventually } from '@palisade/scanner/test/eventually';

import { WebSocket } from 'ws';

type Welcome = Extract<ServerFrame, { kind: 'welcome' }>;
type EventFrame = Extract<ServerFrame, { kind: 'event' }>;

/** The events socket as a page uses it. Each frame is parsed as the page parses it; heartbeats are answered, unless the page is `mute`. */
export interface TestSocket {
  frames: readonly ServerFrame[];
  events: () => LiveEvent[];
  say: (frame: ClientFrame | string) => void;
  welcomed: () => Promise<Welcome>;
  /** The first event that has come, or comes, and fits. */
  event: (fits: (event: LiveEvent) => boolean) => Promise<EventFrame>;
  /** The close code, once the server has closed it. */
  closed: Promise<number>;
  /** Extensions that the server agreed to. */
  extensions: string;
  /** A ping of the protocol itself, until it is answered. */
  ping: () => Promise<void>;
  leave: () => void;
  /** Reads nothing any more. */
  sleep: () => void;
}

export function openSocket(
  app: { url: string },
  options: { path?: string; origin?: string; mute?: boolean; forwarded_for?: string } = {},
): Promise<TestSocket> {
  const { path = EVENTS_PATH, origin, mute = false, forwarded_for } = options;
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/api${path}`, {
    ...(origin === undefined ? {} : { origin }),
    ...(forwarded_for === undefined ? {} : { headers: { 'x-forwarded-for': forwarded_for } }),
    // As browsers do, whether the server takes it or not.
    perMessageDeflate: true,
  });
  const frames: ServerFrame[] = [];
  const say = (frame: ClientFrame | string) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  socket.on('message', (bytes) => {
    const frame = serverFrameSchema.parse(JSON.parse(bytes.toString()));
    frames.push(frame);
    if (frame.kind === 'ping' && !mute) say({ kind: 'pong' });
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const found = <T>(find: () => T | undefined) =>
    eventually(() => {
      const value = find();
      if (value === undefined) throw new Error(`no such frame among ${JSON.stringify(frames)}`);
      return value;
    });
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => reject(new Error(`refused with ${response.statusCode}`)));
    socket.once('error', reject);
    socket.once('open', () =>
      resolve({
        frames,
        events: () => frames.flatMap((frame) => (frame.kind === 'event' ? [frame.event] : [])),
        say,
        welcomed: () => found(() => frames.find((frame) => frame.kind === 'welcome')),
        event: (fits) => found(() => frames.filter((frame) => frame.kind === 'event').find(({ event }) => fits(event))),
        closed,
        extensions: socket.extensions,
        ping: () =>
          new Promise((answered) => {
            socket.once('pong', () => answered());
            socket.ping();
          }),
        leave: () => socket.close(),
        sleep: () => socket.pause(),
      }),
    );
  });
}

/** A socket that has said who it is and has been welcomed. */
export async function listenAs(app: { url: string }, access_token: string, after?: string): Promise<TestSocket> {
  const socket = await openSocket(app);
  socket.say({ kind: 'hello', access_token, after });
  await socket.welcomed();
  return socket;
}
