import { may } from '@palisade/contract/may';
import {
  type pairedSchema,
  RFB_CLOSED,
  RFB_FRAME_BYTES,
  RFB_HELLO_BYTES,
  SCREEN_PATH,
  screenEndsSchema,
  screenHelloSchema,
  VIEWER_PATH,
  viewerHelloSchema,
} from '@palisade/contract/remote-control';
import { needsDevice } from '@palisade/contract/remote-grant';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import { createCrowd } from '#platform/channels/crowd.ts';
import { admitRequest, type SocketDoor } from '#platform/channels/socket-request.ts';
import { logFailure } from '#platform/database-patience.ts';
import { sourceOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { Sessions } from '#platform/session.ts';
import { deviceTopic, sessionTopic, type TopicName, type Topics } from '#platform/topics/topics.ts';
import { createControlPairs, type End, type EndSide } from './control-pairs.ts';
import type { Remote } from './remote.ts';
import { heldGrants } from './session-state.ts';

/** Who has said who they are: of which session, and how it is found out whether they (still) may. */
interface Met {
  session_id: string;
  /** The sign-in of a page; null for an agent. */
  sign_in: string | null;
  /** Where it is told that something of an agent’s device is not as it was. */
  topic: TopicName | null;
  may(): Promise<boolean>;
}

interface Refusal {
  code: number;
  reason: string;
}

const NOT_GRANTED: Refusal = { code: RFB_CLOSED.not_granted, reason: 'Control is not granted.' };
const MALFORMED: Refusal = { code: RFB_CLOSED.malformed, reason: 'This frame is not understood.' };
const AGAIN: Refusal = { code: RFB_CLOSED.again, reason: 'Connect again.' };
const ENDED: Refusal = { code: RFB_CLOSED.unauthenticated, reason: 'The session has ended.' };
/** Sockets that have not said who they are. */
const STRANGERS = { strangers: 500, strangers_per_source: 250 } as const;
const SILENT: Refusal = { code: RFB_CLOSED.silent, reason: 'No hello in time.' };
const HELLO_MS = 5_000;
const BEAT_MS = 20_000;
const CLOSE_GRACE_MS = 500;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Serves the sockets over which RFB passes between a technician's page and a device's agent, after `openSockets`. */
export function serveControl(
  fastify: FastifyInstance,
  parts: SocketDoor & {
    remote: Pick<Remote, 'find' | 'grantedOf' | 'revoke'>;
    topics: Pick<Topics, 'listen' | 'publish'>;
    sessions: Pick<Sessions, 'resolve' | 'onEnd'>;
    /** The device of an id and a token; undefined where it is revoked, or there is none. */
    authenticate: (identity: { device_id: string; token: string }) => Promise<{ id: string; user_id: string } | undefined>;
  },
): { close(): void } {
  const { remote, topics, sessions, authenticate, opening, public_url } = parts;
  const pairs = createControlPairs(topics);
  const open = new Map<WebSocket, { sign_in: string | null; isAlive: boolean; end: (refusal: Refusal) => void }>();
  const putOut = new WeakMap<WebSocket, () => void>();
  // Whoever says nothing makes room for who comes: nobody keeps others out by keeping quiet.
  const crowd = createCrowd(STRANGERS, (socket) => putOut.get(socket)?.());

  /** Grants that the device carried out end, and both sides are told why. */
  function end(session_id: string, why: Parameters<Remote['revoke']>[2]): void {
    remote.revoke(session_id, ['view', 'control', 'clipboard'], why, null).catch((error: unknown) => {
      if (!(error instanceof Problem)) logFailure(fastify.log, error, 'that control has ended could not be kept');
    });
  }

  async function meetViewer({ access_token, session_id }: z.infer<typeof viewerHelloSchema>): Promise<Met | undefined> {
    const session = await sessions.resolve(access_token);
    if (session === undefined || session.is_held) return undefined;
    return {
      session_id,
      sign_in: session.id,
      topic: null,
      async may() {
        const row = await remote.find(session_id);
        if (row === undefined || row.agent_id !== session.user.id || !may.joinSessions(session.user)) return false;
        return heldGrants(row).some(({ grant }) => needsDevice(grant));
      },
    };
  }

  async function meetScreen({ session_id, ...identity }: z.infer<typeof screenHelloSchema>): Promise<Met | undefined> {
    const device = await authenticate(identity);
    if (device === undefined) return undefined;
    return {
      session_id,
      sign_in: null,
      topic: deviceTopic(device.id),
      async may() {
        if ((await authenticate(identity)) !== undefined) return (await remote.grantedOf(device))?.session_id === session_id;
        end(session_id, { why: 'agent_gone' });
        return false;
      },
    };
  }

  function accept(
    side: EndSide,
    meet: (json: unknown) => Promise<Met | undefined> | undefined,
    socket: WebSocket,
    source: string,
  ): void {
    let met: Met | undefined;
    let end_of_pair: End | undefined;
    let stopWatching: (() => void) | undefined;
    const stranger = { socket, source };
    let isOver = false;
    /** This server ends it: what the agent does then is no news. */
    let isEnded = false;

    function refuse({ code, reason }: Refusal): void {
      isEnded = true;
      socket.close(code, reason);
      // Nothing that comes after passes, and a close that is not answered is not waited for.
      leave();
      setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
    }

    function leave(): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(silence);
      crowd.leave(stranger);
      open.delete(socket);
      stopWatching?.();
      // The other end goes with it, and ends this one in turn.
      const was_ended = isEnded;
      const was_paired = end_of_pair?.leave() === true;
      if (met !== undefined && side === 'screen' && was_paired && !was_ended) end(met.session_id, { why: 'agent_gone' });
    }

    function begin(known: Met): void {
      met = known;
      crowd.leave(stranger);
      clearTimeout(silence);
      open.set(socket, { sign_in: known.sign_in, isAlive: true, end: refuse });
      const check = async () => {
        if (!(await known.may()) && !isOver) refuse(NOT_GRANTED);
        return !isOver;
      };
      const failed = (error: unknown) => {
        logFailure(fastify.log, error, 'whether control is granted could not be read');
        if (!isOver) refuse(AGAIN);
      };
      const stopDevice =
        known.topic === null
          ? undefined
          : topics.listen(known.topic, undefined, {
              onStart() {},
              onEvent: () => void check().catch(failed),
              onLost: () => refuse(AGAIN),
            });
      // First heard, then asked: nothing is revoked between.
      const stopSession = topics.listen(sessionTopic(known.session_id), undefined, {
        onStart() {
          check()
            .then((is_granted) => {
              if (is_granted) end_of_pair = pairs.join(known.session_id, side, endSocket);
            })
            .catch(failed);
        },
        onEvent({ event }) {
          if (event.kind !== 'remote_changed' || isOver) return;
          if (!event.session.grants.some(({ grant, device }) => device !== null && needsDevice(grant))) refuse(NOT_GRANTED);
          // Of another device now, perhaps.
          else if (side === 'screen') check().catch(failed);
        },
        onLost: () => refuse(AGAIN),
      });
      stopWatching = () => {
        stopDevice?.();
        stopSession();
      };
      if (isOver) stopWatching();
    }

    const endSocket = {
      send: (bytes: Buffer, sent: () => void) => socket.send(bytes, sent),
      waiting: () => socket.bufferedAmount,
      paired: () => socket.send(JSON.stringify({ kind: 'paired' } satisfies z.infer<typeof pairedSchema>)),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      end: refuse,
    };

    const silence = setTimeout(() => refuse(SILENT), HELLO_MS);
    putOut.set(socket, () => refuse(SILENT));
    crowd.enter(stranger);
    let isMeeting = false;
    socket.on('message', (bytes: Buffer, isBinary) => {
      if (isOver) return;
      if (isBinary) {
        if (bytes.length > RFB_FRAME_BYTES) refuse({ code: RFB_CLOSED.too_big, reason: 'A frame is shorter.' });
        else if (end_of_pair?.pass(bytes) !== true) refuse(MALFORMED);
        return;
      }
      if (bytes.length > RFB_HELLO_BYTES) return refuse({ code: RFB_CLOSED.too_big, reason: 'A frame is shorter.' });
      const json = jsonOf(bytes.toString());
      if (met !== undefined && side === 'screen') {
        const said = screenEndsSchema.safeParse(json);
        if (!said.success) return refuse(MALFORMED);
        end(met.session_id, said.data);
        return refuse(NOT_GRANTED);
      }
      const meeting = isMeeting ? undefined : meet(json);
      if (meeting === undefined) return refuse(MALFORMED);
      isMeeting = true;
      crowd.talk(stranger);
      meeting
        .then((known) => {
          if (isOver) return undefined;
          return known === undefined ? refuse(ENDED) : begin(known);
        })
        .catch((error: unknown) => {
          logFailure(fastify.log, error, 'an end of remote control could not be let in');
          refuse({ code: RFB_CLOSED.failed, reason: 'Something went wrong on the server.' });
        });
    });
    socket.on('pong', () => {
      const known = open.get(socket);
      if (known !== undefined) known.isAlive = true;
    });
    socket.once('close', leave);
  }

  const readers = {
    viewer: (json: unknown) => {
      const hello = viewerHelloSchema.safeParse(json);
      return hello.success ? meetViewer(hello.data) : undefined;
    },
    screen: (json: unknown) => {
      const hello = screenHelloSchema.safeParse(json);
      return hello.success ? meetScreen(hello.data) : undefined;
    },
  };
  for (const [side, path] of [['viewer', VIEWER_PATH] as const, ['screen', SCREEN_PATH] as const])
    fastify.get(
      `/api${path}`,
      {
        websocket: true,
        onRequest: async (request) => {
          const source = await admitRequest(request, { opening, public_url });
          if (crowd.isFull(source)) throw new Problem('too_many_requests', { retry_after: 5 });
        },
      },
      (socket, request) => accept(side, readers[side], socket, sourceOf(request.ip)),
    );

  const stopWatching = sessions.onEnd((session_id) => {
    for (const { sign_in, end: endOne } of [...open.values()]) if (sign_in === session_id) endOne(ENDED);
  });
  const beating = setInterval(() => {
    for (const [socket, known] of open) {
      if (!known.isAlive) socket.terminate();
      known.isAlive = false;
      socket.ping();
    }
  }, BEAT_MS);
  beating.unref();

  return {
    close() {
      clearInterval(beating);
      stopWatching();
      for (const { end: endOne } of [...open.values()])
        endOne({ code: RFB_CLOSED.going_away, reason: 'The server is stopping.' });
    },
  };
}
