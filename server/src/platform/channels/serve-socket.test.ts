import { CLOSED, channel } from '@palisade/contract/channel';
import { eventually } from '@palisade/scanner/test/eventually';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { connectionLimits } from '#platform/connections.ts';
import { createMemoryCounters } from '#platform/counters.ts';
import { createHttp, PATIENCE } from '#platform/http.ts';
import { type ChannelService, SOCKET_LIMITS, type SocketLimits } from './channel-service.ts';
import type { Refusal } from './frames.ts';
import { serveSocket } from './serve-socket.ts';
import { openSockets } from './socket-request.ts';

// A second contract on the mechanism of the events socket: computers, which say more and longer things than pages.

const KIB = 1024;

const deviceChannel = channel({
  path: '/devices/socket',
  hello: z.object({ kind: z.literal('hello'), device_token: z.string() }),
  said: z.discriminatedUnion('kind', [z.object({ kind: z.literal('signal'), data: z.string() })]),
  told: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('welcome'), device: z.string() }),
    z.object({ kind: z.literal('signal'), data: z.string() }),
  ]),
  hello_bytes: KIB,
  frame_bytes: 64 * KIB,
  frames_per_heartbeat: 50,
});
type Hello = z.infer<typeof deviceChannel.hello>;
type Said = z.infer<typeof deviceChannel.said>;
type Told = z.infer<typeof deviceChannel.told>;

interface Device {
  kind: 'device';
  id: string;
}

/** The text that the code behind the socket makes of an error. */
const FAULT = 'a fault';
const GONE: Refusal = { code: CLOSED.unauthenticated, reason: 'This device was removed.' };

/**
 * Serves devices, whose token is their name; `removed` are the names of removed ones, `leaving` of those that are removed right after they were looked up. Each frame of
 * one device goes to all of them.
 */
async function serveDevices(limits: Partial<SocketLimits> = {}) {
  const fastify = await createHttp({
    logger: pino({ level: 'silent' }),
    trusted_proxies: [],
    patience: PATIENCE,
    public_url: undefined,
    channels: [deviceChannel],
    connections: connectionLimits(),
    isShared: () => false,
    exposure: 'local',
    onArrival: () => {},
  });
  const removed = new Set<string>();
  const leaving = new Set<string>();
  const heard: Said[] = [];
  const present = new Map<string, (frame: Told) => void>();
  const service: ChannelService<Device, Hello, Said, Told> = {
    channel: deviceChannel,
    async meet({ device_token }) {
      if (removed.has(device_token)) return { refusal: GONE };
      if (leaving.has(device_token)) removed.add(device_token);
      return { principal: { kind: 'device', id: device_token } };
    },
    keyOf: ({ id }) => id,
    refused: (devices) =>
      Promise.resolve(new Map(devices.filter(({ id }) => removed.has(id)).map((device) => [device, GONE] as const))),
    join(connection) {
      const { id } = connection.principal;
      present.set(id, (frame) => connection.tell(frame));
      connection.tell({ kind: 'welcome', device: id });
      return {
        onFrame(frame) {
          if (frame.data === FAULT) throw new Error('nobody thought of this');
          heard.push(frame);
          for (const tell of present.values()) tell(frame);
        },
        onLeave: () => void present.delete(id),
      };
    },
  };
  await openSockets(fastify, [deviceChannel]);
  const sockets = serveSocket(fastify, service, {
    limits: { ...SOCKET_LIMITS, ...limits },
    opening: { rate: { count: 1_000_000, period_ms: 60_000 }, counters: createMemoryCounters({ now: Date.now }) },
    public_url: undefined,
  });
  const url = await fastify.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    sockets.close();
    await fastify.close();
  });

  async function open() {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api${deviceChannel.path}`);
    const frames: unknown[] = [];
    socket.on('message', (bytes) => {
      const frame: unknown = JSON.parse(bytes.toString());
      frames.push(frame);
      if (z.object({ kind: z.literal('ping') }).safeParse(frame).success) say({ kind: 'pong' });
    });
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const say = (frame: unknown) => socket.send(JSON.stringify(frame));
    return { socket, frames, closed, say };
  }
  async function enter(device_token: string) {
    const opened = await open();
    opened.say({ kind: 'hello', device_token });
    await eventually(() => expect(opened.frames).toContainEqual({ kind: 'welcome', device: device_token }));
    return opened;
  }
  return { sockets, removed, leaving, heard, present, open, enter };
}

const signal = (bytes: number) => ({
  kind: 'signal',
  data: 'x'.repeat(bytes - JSON.stringify({ kind: 'signal', data: '' }).length),
});

test('a frame of 64 KiB goes from one device to another, and one byte more ends the socket', async () => {
  const devices = await serveDevices();
  const [one, other] = [await devices.enter('one'), await devices.enter('other')];
  one.say(signal(64 * KIB));
  await eventually(() => expect(other.frames).toContainEqual(signal(64 * KIB)));
  one.say(signal(64 * KIB + 1));
  expect(await one.closed).toBe(CLOSED.too_big);
  await eventually(() => expect([...devices.present.keys()]).toEqual(['other']));
});

test('limits an unauthenticated peer to a kilobyte, whole or in endless parts', async () => {
  const { open, heard } = await serveDevices();
  const long = await open();
  long.say({ kind: 'hello', device_token: 'x'.repeat(4 * KIB) });
  expect(await long.closed).toBe(CLOSED.too_big);
  const dripping = await open();
  for (let part = 0; part < 8; part += 1) dripping.socket.send('x'.repeat(512), { fin: false });
  expect(await dripping.closed).toBe(CLOSED.too_big);
  expect(heard).toEqual([]);
});

test.each([
  ['a frame of another contract', { kind: 'subscribe' }],
  ['a field of another type', { kind: 'signal', data: 7 }],
  ['a second hello', { kind: 'hello', device_token: 'one' }],
])('%s ends the socket', async (_, frame) => {
  const { enter, heard } = await serveDevices();
  const one = await enter('one');
  one.say(frame);
  expect(await one.closed).toBe(CLOSED.malformed);
  expect(heard).toEqual([]);
});

test('a frame that is an error to what hears it ends its own socket, and neither another one nor the server', async () => {
  const devices = await serveDevices();
  const [one, other] = [await devices.enter('one'), await devices.enter('other')];
  one.say({ kind: 'signal', data: FAULT });
  expect(await one.closed).toBe(CLOSED.failed);
  await eventually(() => expect([...devices.present.keys()]).toEqual(['other']));
  other.say(signal(KIB));
  await eventually(() => expect(other.frames).toContainEqual(signal(KIB)));
});

test('frames are counted between heartbeats', async () => {
  const { enter, heard } = await serveDevices({ heartbeat_ms: 600_000 });
  const one = await enter('one');
  for (let count = 0; count < 60; count += 1) one.say(signal(100));
  expect(await one.closed).toBe(CLOSED.malformed);
  // The hello was one.
  expect(heard).toHaveLength(deviceChannel.frames_per_heartbeat - 1);
});

test('a device that was removed is ended when it is asked about, and is not let in again', async () => {
  const { sockets, removed, open, enter } = await serveDevices({ heartbeat_ms: 600_000 });
  const [one, other] = [await enter('one'), await enter('other')];
  removed.add('one');
  sockets.lookAgain('one');
  expect(await one.closed).toBe(CLOSED.unauthenticated);
  const again = await open();
  again.say({ kind: 'hello', device_token: 'one' });
  expect(await again.closed).toBe(CLOSED.unauthenticated);
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
});

test('a device that is removed while it is let in is asked about once more after its welcome', async () => {
  // No heartbeat comes for an hour, and no other look: the server that removed it did not know of this socket yet.
  const { leaving, enter } = await serveDevices({ heartbeat_ms: 100 * 3_600_000 });
  leaving.add('one');
  const { socket, closed } = await enter('one');
  await eventually(() => expect(socket.readyState).toBe(WebSocket.CLOSED));
  expect(await closed).toBe(CLOSED.unauthenticated);
});

test('a principal has no more sockets than it may, and each that leaves makes room', async () => {
  const { open, enter } = await serveDevices({ sockets_per_principal: 2 });
  const first = await enter('one');
  await enter('one');
  const third = await open();
  third.say({ kind: 'hello', device_token: 'one' });
  expect(await third.closed).toBe(CLOSED.too_many);
  first.socket.close();
  await first.closed;
  await enter('one');
});

test('every socket is told to connect elsewhere when the server stops, silent ones too', async () => {
  const { sockets, open, enter } = await serveDevices();
  const [one, silent] = [await enter('one'), await open()];
  sockets.close();
  expect([await one.closed, await silent.closed]).toEqual([CLOSED.going_away, CLOSED.going_away]);
});
