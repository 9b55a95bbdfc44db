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
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import { createSocketAdmission, type SocketAdmission, type Stranger } from '#platform/channels/socket-admission.ts';
import { admitRequest, type SocketDoor } from '#platform/channels/socket-request.ts';
import { logFailure } from '#platform/database-patience.ts';
import { sourceOf } from '#platform/origin.ts';
import { parseJson } from '#platform/parse-json.ts';
import { Problem } from '#platform/problem.ts';
import type { Sessions } from '#platform/session.ts';
import { deviceTopic, sessionTopic, type TopicName, type Topics } from '#platform/topics/topics.ts';
import { type ControlPairs, createControlPairs, type End, type EndSide, type EndSocket } from './control-pairs.ts';
import type { Remote } from './remote.ts';
import { heldGrants } from './session-state.ts';

/** An authenticated peer: its session, and the check whether it may stay. */
interface Met {
  session_id: string;
  /** The sign-in of a page; null for an agent. */
  sign_in: string | null;
  /** The topic of changes of an agent’s device. */
  topic: TopicName | null;
  may(): Promise<boolean>;
}

interface Refusal {
  code: number;
  reason: string;
}

const NOT_GRANTED: Refusal = { code: RFB_CLOSED.not_granted, reason: 'Control isn’t allowed.' };
const MALFORMED: Refusal = { code: RFB_CLOSED.malformed, reason: 'We can’t read this frame.' };
const AGAIN: Refusal = { code: RFB_CLOSED.again, reason: 'Connect again.' };
const ENDED: Refusal = { code: RFB_CLOSED.unauthenticated, reason: 'The session has ended.' };
/** Sockets that are not authenticated. */
const STRANGERS = { strangers: 500, strangers_per_source: 250 } as const;
const SILENT: Refusal = { code: RFB_CLOSED.silent, reason: 'The greeting came too late.' };
const HELLO_MS = 5_000;
const BEAT_MS = 20_000;
const CLOSE_GRACE_MS = 500;

/** One socket of an end, from its first byte on. */
interface ControlEndOptions {
  side: EndSide;
  meet: (json: unknown) => Promise<Met | undefined> | undefined;
  socket: WebSocket;
  source: string;
  pairs: ControlPairs;
  topics: Pick<Topics, 'listen'>;
  open: Map<WebSocket, { sign_in: string | null; isAlive: boolean; end: (refusal: Refusal) => void }>;
  putOut: WeakMap<WebSocket, () => void>;
  admission: SocketAdmission;
  /** Ends the grants that the device carried out. */
  endGrants: (session_id: string, why: Parameters<Remote['revoke']>[2]) => void;
  logger: FastifyBaseLogger;
}

class ControlEnd {
  private readonly options: ControlEndOptions;
  private readonly open: Map<WebSocket, { sign_in: string | null; isAlive: boolean; end: (refusal: Refusal) => void }>;
  private met: Met | undefined;
  private end_of_pair: End | undefined;
  private stopWatching: (() => void) | undefined;
  private readonly stranger: Stranger;
  private isOver = false;
  /** This server ends it: later frames of the agent are ignored. */
  private isEnded = false;
  private readonly endSocket: EndSocket;
  private isMeeting = false;
  private readonly silence: NodeJS.Timeout;

  constructor(options: ControlEndOptions) {
    this.options = options;
    this.open = options.open;
    this.stranger = { socket: this.options.socket, source: options.source };
    this.endSocket = {
      send: (bytes: Buffer, sent: () => void) => this.options.socket.send(bytes, sent),
      waiting: () => this.options.socket.bufferedAmount,
      paired: () => this.options.socket.send(JSON.stringify({ kind: 'paired' } satisfies z.infer<typeof pairedSchema>)),
      pause: () => this.options.socket.pause(),
      resume: () => this.options.socket.resume(),
      end: this.refuse,
    };
    this.silence = setTimeout(() => this.refuse(SILENT), HELLO_MS);
    options.putOut.set(this.options.socket, () => this.refuse(SILENT));
    this.options.admission.enter(this.stranger);
    this.options.socket.on('message', this.hearFrame);
    this.options.socket.on('pong', () => {
      const known = this.open.get(this.options.socket);
      if (known !== undefined) known.isAlive = true;
    });
    this.options.socket.once('close', this.leave);
  }

  private readonly refuse = ({ code, reason }: Refusal): void => {
    this.isEnded = true;
    this.options.socket.close(code, reason);
    // Stop passing frames, without waiting for the close handshake.
    this.leave();
    setTimeout(() => this.options.socket.terminate(), CLOSE_GRACE_MS).unref();
  };

  private readonly leave = (): void => {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.silence);
    this.options.admission.leave(this.stranger);
    this.open.delete(this.options.socket);
    this.stopWatching?.();
    // The other end goes with it, and ends this one in turn.
    const was_ended = this.isEnded;
    const was_paired = this.end_of_pair?.leave() === true;
    if (this.met !== undefined && this.options.side === 'screen' && was_paired && !was_ended)
      this.options.endGrants(this.met.session_id, { why: 'agent_gone' });
  };

  private begin(known: Met): void {
    this.met = known;
    this.options.admission.leave(this.stranger);
    clearTimeout(this.silence);
    this.open.set(this.options.socket, { sign_in: known.sign_in, isAlive: true, end: this.refuse });
    const check = async () => {
      if (!(await known.may()) && !this.isOver) this.refuse(NOT_GRANTED);
      return !this.isOver;
    };
    const failed = (error: unknown) => {
      logFailure(this.options.logger, error, 'could not check whether control is allowed');
      if (!this.isOver) this.refuse(AGAIN);
    };
    const stopDevice =
      known.topic === null
        ? undefined
        : this.options.topics.listen(known.topic, undefined, {
            onStart() {},
            onEvent: () => void check().catch(failed),
            onLost: () => this.refuse(AGAIN),
          });
    // Subscribe before the check, so that no revocation in between is missed.
    const stopSession = this.options.topics.listen(sessionTopic(known.session_id), undefined, {
      onStart: () => {
        check()
          .then((is_granted) => {
            if (is_granted) this.end_of_pair = this.options.pairs.join(known.session_id, this.options.side, this.endSocket);
          })
          .catch(failed);
      },
      onEvent: ({ event }) => {
        if (event.kind !== 'remote_changed' || this.isOver) return;
        if (!event.session.grants.some(({ grant, device }) => device !== null && needsDevice(grant))) this.refuse(NOT_GRANTED);
        // It may belong to another device by now.
        else if (this.options.side === 'screen') check().catch(failed);
      },
      onLost: () => this.refuse(AGAIN),
    });
    this.stopWatching = () => {
      stopDevice?.();
      stopSession();
    };
    if (this.isOver) this.stopWatching();
  }

  private readonly hearFrame = (bytes: Buffer, isBinary: boolean): void => {
    if (this.isOver) return;
    if (isBinary) {
      if (bytes.length > RFB_FRAME_BYTES) this.refuse({ code: RFB_CLOSED.too_big, reason: 'The frame is too long.' });
      else if (this.end_of_pair?.pass(bytes) !== true) this.refuse(MALFORMED);
      return;
    }
    if (bytes.length > RFB_HELLO_BYTES) this.refuse({ code: RFB_CLOSED.too_big, reason: 'The frame is too long.' });
    else this.hearJson(parseJson(bytes.toString()));
  };

  private hearJson(json: unknown): void {
    if (this.met !== undefined && this.options.side === 'screen') {
      const said = screenEndsSchema.safeParse(json);
      if (said.success) this.options.endGrants(this.met.session_id, said.data);
      this.refuse(said.success ? NOT_GRANTED : MALFORMED);
      return;
    }
    const meeting = this.isMeeting ? undefined : this.options.meet(json);
    if (meeting === undefined) {
      this.refuse(MALFORMED);
      return;
    }
    this.isMeeting = true;
    this.options.admission.talk(this.stranger);
    meeting
      .then((known) => {
        if (this.isOver) return undefined;
        return known === undefined ? this.refuse(ENDED) : this.begin(known);
      })
      .catch((error: unknown) => {
        logFailure(this.options.logger, error, 'could not admit a side of remote control');
        this.refuse({ code: RFB_CLOSED.failed, reason: 'Something went wrong on the server.' });
      });
  }
}

function acceptEnd(options: ControlEndOptions): ControlEnd {
  return new ControlEnd(options);
}

interface ControlSocketsOptions extends SocketDoor {
  remote: Pick<Remote, 'find' | 'grantedOf' | 'revoke'>;
  topics: Pick<Topics, 'listen' | 'publish'>;
  sessions: Pick<Sessions, 'resolve' | 'onEnd'>;
  /** The device of an id and a token; undefined where it is revoked, or there is none. */
  authenticate: (identity: { device_id: string; token: string }) => Promise<{ id: string; user_id: string } | undefined>;
}

/** Serves the sockets over which RFB passes between a technician's page and a device's agent, after `openSockets`. */
export class ControlSockets {
  private readonly fastify: FastifyInstance;
  private readonly remote: Pick<Remote, 'find' | 'grantedOf' | 'revoke'>;
  private readonly sessions: Pick<Sessions, 'resolve' | 'onEnd'>;
  private readonly authenticate: (identity: {
    device_id: string;
    token: string;
  }) => Promise<{ id: string; user_id: string } | undefined>;
  private readonly open = new Map<WebSocket, { sign_in: string | null; isAlive: boolean; end: (refusal: Refusal) => void }>();
  private readonly stopWatching: () => void;
  private readonly beating: NodeJS.Timeout;

  constructor(fastify: FastifyInstance, options: ControlSocketsOptions) {
    this.fastify = fastify;
    this.remote = options.remote;
    this.sessions = options.sessions;
    this.authenticate = options.authenticate;
    const pairs = createControlPairs(options.topics);
    const putOut = new WeakMap<WebSocket, () => void>();
    // Silent peers are closed to make room, so they cannot keep others out.
    const admission = createSocketAdmission(STRANGERS, (socket) => putOut.get(socket)?.());
    const readers = {
      viewer: (json: unknown) => {
        const hello = viewerHelloSchema.safeParse(json);
        return hello.success ? this.meetViewer(hello.data) : undefined;
      },
      screen: (json: unknown) => {
        const hello = screenHelloSchema.safeParse(json);
        return hello.success ? this.meetScreen(hello.data) : undefined;
      },
    };
    for (const [side, path] of [['viewer', VIEWER_PATH] as const, ['screen', SCREEN_PATH] as const])
      this.fastify.get(
        `/api${path}`,
        {
          websocket: true,
          onRequest: async (request) => {
            const source = await admitRequest(request, { opening: options.opening, public_url: options.public_url });
            if (admission.isFull(source)) throw new Problem('too_many_requests', { retry_after: 5 });
          },
        },
        (socket, request) =>
          void acceptEnd({
            side,
            meet: readers[side],
            socket,
            source: sourceOf(request.ip),
            pairs,
            topics: options.topics,
            open: this.open,
            putOut,
            admission,
            endGrants: this.end,
            logger: this.fastify.log,
          }),
      );
    this.stopWatching = this.sessions.onEnd((session_id) => {
      for (const { sign_in, end: endOne } of [...this.open.values()]) if (sign_in === session_id) endOne(ENDED);
    });
    this.beating = setInterval(() => {
      for (const [socket, known] of this.open) {
        if (!known.isAlive) socket.terminate();
        known.isAlive = false;
        socket.ping();
      }
    }, BEAT_MS);
    this.beating.unref();
  }

  /** Grants that the device carried out end, and both sides get the reason. */
  private readonly end = (session_id: string, why: Parameters<Remote['revoke']>[2]): void => {
    this.remote.revoke(session_id, ['view', 'control', 'clipboard'], why, null).catch((error: unknown) => {
      if (!(error instanceof Problem)) logFailure(this.fastify.log, error, 'could not store the end of remote control');
    });
  };

  private async meetViewer({ access_token, session_id }: z.infer<typeof viewerHelloSchema>): Promise<Met | undefined> {
    const session = await this.sessions.resolve(access_token);
    if (session === undefined || session.is_held) return undefined;
    return {
      session_id,
      sign_in: session.id,
      topic: null,
      may: async () => {
        const row = await this.remote.find(session_id);
        if (row === undefined || row.agent_id !== session.user.id || !may.joinSessions(session.user)) return false;
        return heldGrants(row).some(({ grant }) => needsDevice(grant));
      },
    };
  }

  private async meetScreen({ session_id, ...identity }: z.infer<typeof screenHelloSchema>): Promise<Met | undefined> {
    const device = await this.authenticate(identity);
    if (device === undefined) return undefined;
    return {
      session_id,
      sign_in: null,
      topic: deviceTopic(device.id),
      may: async () => {
        if ((await this.authenticate(identity)) !== undefined)
          return (await this.remote.grantedOf(device))?.session_id === session_id;
        this.end(session_id, { why: 'agent_gone' });
        return false;
      },
    };
  }

  close() {
    clearInterval(this.beating);
    this.stopWatching();
    for (const { end: endOne } of [...this.open.values()])
      endOne({ code: RFB_CLOSED.going_away, reason: 'The server is stopping.' });
  }
}

export function serveControl(fastify: FastifyInstance, options: ControlSocketsOptions): ControlSockets {
  return new ControlSockets(fastify, options);
}
