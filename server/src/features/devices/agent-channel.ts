import {
  AGENT_CLOSED,
  AGENT_HEARTBEAT_MS,
  agentChannel,
  type Hello,
  POLL_WAIT_MS,
  type Said,
  type Told,
} from '@palisade/contract/agent';
import { CLOSED } from '@palisade/contract/channel';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Connection, SocketParts, Sockets } from '#platform/channels/channel-service.ts';
import type { Refusal } from '#platform/channels/frames.ts';
import { serveSocket } from '#platform/channels/serve-socket.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import { newId } from '#platform/id.ts';
import type { Rate } from '#platform/limits.ts';
import { Problem } from '#platform/problem.ts';
import { deviceTopic, type Topics } from '#platform/topics/topics.ts';
import type { AgentPrincipal, Agents } from './agents.ts';
import { refuseFor } from './devices.refusals.ts';

const REFUSALS: Record<'revoked' | 'in_use', Refusal> = {
  revoked: { code: AGENT_CLOSED.revoked, reason: 'This device was revoked.' },
  in_use: { code: AGENT_CLOSED.in_use, reason: 'Another agent with this identity is connected.' },
};
const AGAIN: Refusal = { code: CLOSED.again, reason: 'Something may not have been told.' };
/** Maximum number of an agent's frames that wait while an earlier one is stored. */
const WAITING_MAXIMUM = 60;
/** Wait of a poll without news while its device is busy, in ms: an agent with a new scan polls again soon. */
const BUSY_WAIT_MS = 2_000;
/** Rate of frames that one agent may send by HTTP polls. */
const FRAMES: Rate = { count: agentChannel.frames_per_heartbeat, period_ms: AGENT_HEARTBEAT_MS };
/** Shortest interval between two reports about one device to pages, in ms. */
const NEWS_EVERY_MS = 1_000;

/** Reports news of devices to pages: at once, then at most at an interval. */
export function createDeviceNews(tell: (user_id: string) => void): { told(user_id: string): void; close(): void } {
  const waiting = new Map<string, { again: boolean; timer: NodeJS.Timeout }>();

  function begin(user_id: string): void {
    tell(user_id);
    const timer = setTimeout(() => {
      const again = waiting.get(user_id)?.again === true;
      waiting.delete(user_id);
      if (again) begin(user_id);
    }, NEWS_EVERY_MS).unref();
    waiting.set(user_id, { again: false, timer });
  }

  return {
    told(user_id) {
      const pause = waiting.get(user_id);
      if (pause === undefined) begin(user_id);
      else pause.again = true;
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}

/** The connection between an agent and the server, by socket or by HTTP polls. */
export interface AgentService {
  sockets: Pick<Sockets, 'close' | 'open'>;
  /** The same over HTTP: the agent's frames, answered with the server's, after a while if there are none. @throws Problem `device_revoked`, `device_in_use`, `too_many_requests`. */
  poll(hello: Hello, said: readonly Said[], signal: AbortSignal): Promise<Told[]>;
}

interface AgentsParts extends SocketParts {
  agents: Agents;
  topics: Pick<Topics, 'listen'>;
  counters: Pick<Counters, 'take'>;
  /** Called with the person whose device sent a frame. */
  onNews: (user_id: string) => void;
  now: () => number;
  poll_wait_ms?: number | undefined;
}

/** One connection: handles its frames one after the other, and sends the device's desired state whenever it has changed. */
function converse(
  connection: Connection<AgentPrincipal, Told>,
  parts: Pick<AgentsParts, 'agents' | 'topics' | 'onNews'> & { logger: FastifyBaseLogger; welcome: () => Told },
) {
  const { agents, topics, onNews, logger, welcome } = parts;
  const { principal } = connection;
  let told: string | undefined;
  let waiting = 0;
  let work: Promise<void> = Promise.resolve();
  let isAsked = false;
  let isOver = false;

  function enqueue(task: () => Promise<void>): void {
    waiting += 1;
    work = work
      .then(() => (isOver ? undefined : task()))
      .catch((error: unknown) => {
        logFailure(logger, error, 'what an agent said could not be kept', { device: principal.id });
        // The agent sends it again over the next connection.
        connection.end(AGAIN);
      })
      .finally(() => {
        waiting -= 1;
      });
  }

  /** Checks whether there is a frame to send; concurrent requests share one check. */
  function look(): void {
    if (isAsked) return;
    isAsked = true;
    enqueue(async () => {
      isAsked = false;
      const mark = await agents.markOf(principal.id);
      if (mark === told && mark !== undefined) return;
      const state = mark === undefined ? undefined : await agents.desired(principal.id);
      if (state === undefined) return connection.end(REFUSALS.revoked);
      told = state.mark;
      connection.tell(state.desired);
    });
  }

  const stop = topics.listen(deviceTopic(principal.id), undefined, {
    onStart() {
      connection.tell(welcome());
      look();
      onNews(principal.user_id);
    },
    onEvent: look,
    onLost: () => connection.end(AGAIN),
  });

  return {
    onFrame(frame: Said) {
      if (waiting >= WAITING_MAXIMUM) return connection.end({ code: CLOSED.malformed, reason: 'Too much at once.' });
      enqueue(async () => {
        for (const answer of await agents.hear(principal, frame)) connection.tell(answer);
        onNews(principal.user_id);
        look();
      });
    },
    onLeave() {
      isOver = true;
      stop();
      void agents
        .leave(principal)
        .then(() => onNews(principal.user_id))
        .catch((error: unknown) => logFailure(logger, error, 'the end of an agent’s connection could not be kept'));
    },
  };
}

/** The same rate as for a socket; takes all of a poll's frames or none. @throws Problem `too_many_requests` */
async function takeFrames(counters: Pick<Counters, 'take'>, device_id: string, count: number): Promise<void> {
  // Taking one token from a bucket that is `count` times smaller equals taking `count` tokens.
  const bucket = { key: `agent-frames:${device_id}`, rate: { ...FRAMES, count: FRAMES.count / count } };
  const empty = await counters.take([bucket]);
  if (empty !== undefined) throw refuseFor(empty.wait_ms, 'agent.too_fast');
}

/** Waits until a device is nudged, at most so long. */
function untilNudged(topics: Pick<Topics, 'listen'>, device_id: string, signal: AbortSignal, wait_ms: number): Promise<void> {
  return new Promise((resolve) => {
    let isEnded = false;
    let stop: (() => void) | undefined;
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      stop?.();
      resolve();
    };
    const timer = setTimeout(end, wait_ms);
    signal.addEventListener('abort', end, { once: true });
    stop = topics.listen(deviceTopic(device_id), newId(), { onStart() {}, onEvent: end, onLost: end });
    if (isEnded) stop();
  });
}

/** Serves the agents' socket, after `openSockets`. */
export function serveAgents(fastify: FastifyInstance, parts: AgentsParts): AgentService {
  const { agents, topics, counters, onNews, now, poll_wait_ms = POLL_WAIT_MS, ...socketParts } = parts;
  /** The last answers to polls of each device, on this server. */
  const polled = new Map<string, string>();
  const welcome = (): Told => ({ kind: 'welcome', at: new Date(now()).toISOString(), heartbeat_ms: AGENT_HEARTBEAT_MS });

  const sockets = serveSocket<AgentPrincipal, Hello, Said, Told>(
    fastify,
    {
      channel: agentChannel,
      async meet(hello) {
        const met = await agents.connect(hello);
        return 'principal' in met ? met : { refusal: REFUSALS[met.refused] };
      },
      keyOf: ({ id }) => id,
      async refused(some) {
        const lost = await agents.renew(some);
        return new Map([...lost].map(([principal, reason]) => [principal, REFUSALS[reason]]));
      },
      join: (connection) => converse(connection, { agents, topics, onNews, logger: fastify.log, welcome }),
    },
    socketParts,
  );

  return {
    sockets,

    async poll(hello, said, signal) {
      const met = await agents.connect(hello);
      if ('refused' in met) throw new Problem(met.refused === 'revoked' ? 'device_revoked' : 'device_in_use');
      const { principal } = met;
      await takeFrames(counters, principal.id, Math.max(1, said.length));
      const answers: Told[] = [];
      for (const frame of said) answers.push(...(await agents.hear(principal, frame)));
      onNews(principal.user_id);
      let state = await agents.desired(principal.id);
      if (state === undefined) throw new Problem('device_revoked');
      const has_it = hello.applied_rev === state.desired.rev && hello.ruleset_hash === state.desired.hash;
      const { scan_jobs, file_orders, second_looks } = state.desired;
      const is_idle = scan_jobs.length === 0 && file_orders.length === 0 && second_looks.length === 0;
      const is_busy = !(has_it && is_idle);
      const is_told = said.length === 0 && polled.get(principal.id) === `${hello.instance} ${state.mark}`;
      if (answers.length === 0 && (is_told || !is_busy)) {
        await untilNudged(topics, principal.id, signal, is_busy ? Math.min(BUSY_WAIT_MS, poll_wait_ms) : poll_wait_ms);
        state = await agents.desired(principal.id);
        if (state === undefined) throw new Problem('device_revoked');
      }
      polled.set(principal.id, `${hello.instance} ${state.mark}`);
      return [welcome(), state.desired, ...answers];
    },
  };
}
