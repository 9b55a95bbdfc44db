import { once } from 'node:events';
import { type Desired, SAID_BYTES_MAXIMUM, type Said, saidSchema } from '@palisade/contract/agent';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { helloOf } from '#test/hello.ts';
import { Link } from './link.ts';
import { createResolver } from './resolver.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const rule = (port: number) => ({
  id: ID,
  direction: 'inbound',
  action: 'block',
  protocol: 'tcp',
  source_ip: '*',
  destination_ip: '*',
  port: `${port}`,
  expires_at: null,
});
/** Longer than the part that is compared each time. */
const desired = (port: number, parts = {}) =>
  JSON.stringify({
    kind: 'desired',
    rev: 1,
    hash: '0'.repeat(64),
    defaults: { inbound: 'allow', outbound: 'allow' },
    rules: Array.from({ length: 30 }, () => rule(port)),
    block_list: [],
    scan_jobs: [],
    file_orders: [],
    exclusions: [],
    watched: [],
    is_watching: false,
    signatures: null,
    ...parts,
  });

const hello = () => helloOf(ID, 'a'.repeat(64));

/** A server that confirms nothing, and the frames of each connection. */
async function createWorld({
  onConnected,
  ...parts
}: {
  onConnected?: (say: (frame: Said) => void) => void;
  onDesired?: (told: Desired) => void;
  onState?: (state: string, reason: string) => void;
} = {}) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const connections: { peer: WebSocket; said: Said[] }[] = [];
  server.on('connection', (peer) => {
    const connection: (typeof connections)[number] = { peer, said: [] };
    peer.once('message', () => {
      connections.push(connection);
      peer.on('message', (bytes: Buffer) => connection.said.push(saidSchema.parse(JSON.parse(bytes.toString()))));
      peer.send(JSON.stringify({ kind: 'welcome', at: new Date().toISOString(), heartbeat_ms: 20_000 }));
    });
  });
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`);
  const link = new Link({
    server: url,
    resolver: createResolver(url),
    onNoted() {},
    onSkew() {},
    onDesired() {},
    onState() {},
    ...parts,
    hello,
    onConnected: () => onConnected?.((frame) => link.say(frame)),
    askRevoked: () => Promise.resolve(undefined),
    wait: () => Promise.resolve(),
  });
  const begin = () => {
    const running = link.run();
    onTestFinished(async () => {
      link.stop();
      await running;
      server.close();
    });
  };
  return { link, connections, begin };
}

it('parses a repeated state once, and another one anew', async () => {
  const heard: Desired[] = [];
  const reasons: string[] = [];
  const { connections, begin } = await createWorld({
    onDesired: (told) => heard.push(told),
    onState: (_state, reason) => reasons.push(reason),
  });
  begin();
  const connected = (times: number) => eventually(() => expect(connections).toHaveLength(times));
  const tell = async (text: string) => {
    const before = heard.length;
    connections.at(-1)?.peer.send(text);
    await eventually(() => expect(heard).toHaveLength(before + 1));
    return heard.at(-1);
  };
  await connected(1);
  const first = await tell(desired(80));
  expect(first?.rules).toHaveLength(30);
  connections[0]?.peer.close();
  await connected(2);
  // The same object, so that callers see that it has not changed.
  expect(await tell(desired(80))).toBe(first);
  const second = await tell(desired(81));
  expect(second).not.toBe(first);
  expect(second?.rules[0]).toMatchObject({ port: '81' });
  expect((await tell(desired(80)))?.rules[0]).toMatchObject({ port: '80' });
  // A refused one is refused each time.
  for (const time of [3, 4]) {
    const rules = Array.from({ length: 30 }, () => ({ ...rule(80), source_ip: 'x; flush ruleset' }));
    connections.at(-1)?.peer.send(desired(80, { rules }));
    await connected(time);
  }
  expect(heard).toHaveLength(4);
  expect(reasons).toContain('the server said something that this agent does not understand');
});

const id = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const event = (number: number): Said => ({
  kind: 'event',
  id: id(number),
  at: new Date().toISOString(),
  event: { event: 'tampered', backed_off: false },
});
const report = (seq: number): Said => ({
  kind: 'report',
  seq,
  epoch: new Date().toISOString(),
  counters: [],
  blocked: [],
  telemetry: null,
  posture: [],
  foreign_tables: [],
  watching: null,
  health: null,
  web_protection: null,
});

it('says what happened while the server was away once each, and no more at once than a server takes', async () => {
  const events = Array.from({ length: 45 }, (_, index) => event(index));
  const { link, connections, begin } = await createWorld({
    onConnected(say) {
      for (const one of events) say(one);
    },
  });
  // The server cannot be reached yet.
  for (const one of events) link.say(one);
  link.say(report(1));
  link.say(report(2));
  begin();
  const said = () => connections[0]?.said ?? [];
  await eventually(() => expect(said().length).toBeGreaterThan(30));
  expect(said()[0]).toMatchObject({ kind: 'report', seq: 2 });
  // An ack and a report do not wait behind them.
  link.say({ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [] });
  link.say(report(3));
  await eventually(() => expect(said().some((frame) => frame.kind === 'report' && frame.seq === 3)).toBe(true));
  expect(said().some(({ kind }) => kind === 'ack')).toBe(true);
  const early = said().filter(({ kind }) => kind === 'event');
  expect(early.length).toBeLessThan(40);
  await eventually(() => expect(said().filter(({ kind }) => kind === 'event')).toHaveLength(45));
  expect(new Set(said().flatMap((frame) => (frame.kind === 'event' ? [frame.id] : []))).size).toBe(45);
});

it('says of a report that is too large what must be known', async () => {
  const { link, connections, begin } = await createWorld();
  begin();
  await eventually(() => expect(connections).toHaveLength(1));
  const blocked = Array.from({ length: 500 }, () => ({
    ...({ direction: 'outbound', protocol: 'other', address: '2001:db8:1234:5678:9abc:def0:1234:5678', port: 65_535 } as const),
    packets: Number.MAX_SAFE_INTEGER,
    first_at: new Date().toISOString(),
    last_at: new Date().toISOString(),
  }));
  const counters = Array.from({ length: 1_002 }, (_, index) => ({ of: id(index), packets: 2 ** 50, bytes: 2 ** 52 }));
  const connection = {
    ...({ direction: 'outbound', protocol: 'tcp', local: '2001:db8:1234:5678:9abc:def0:1234:5678' } as const),
    remote: '2001:db8:1234:5678:9abc:def0:1234:5678',
    port: 65_535,
    program: '\u{1f600}'.repeat(50),
  };
  const whole = {
    ...report(1),
    blocked,
    counters,
    telemetry: {
      cpu_percent: 1,
      memory_percent: 1,
      memory_bytes: 1,
      network_in: 1,
      network_out: 1,
      network_percent: 1,
      uptime_s: 1,
      listening: [],
      connections: Array.from({ length: 300 }, () => connection),
    },
  };
  expect(Buffer.byteLength(JSON.stringify(whole))).toBeGreaterThan(SAID_BYTES_MAXIMUM);
  link.say(saidSchema.parse(whole));
  await eventually(() => expect(connections[0]?.said).toMatchObject([{ blocked, counters, telemetry: null }]));
});
