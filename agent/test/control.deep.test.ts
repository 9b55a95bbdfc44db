// proves: security-42

import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { RFB_CLOSED, SCREEN_PATH, screenEndsSchema, screenHelloSchema } from '@palisade/contract/remote-control';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { Control } from '#control/control.ts';
import type { Granted } from '#control/screen-connection.ts';
import { createResolver } from '#link/resolver.ts';
import { NO_DESKTOP, startDesktop, type TestDesktop, TIGERVNC } from './desktop.ts';
import { encodings, pointer, press, RETURN, shakeHands, type, typeWithShift, updateRequest } from './viewer.ts';

if (NO_DESKTOP !== undefined) process.stdout.write(`Control of a desktop was not tried: ${NO_DESKTOP}\n`);
if (TIGERVNC === undefined)
  process.stdout.write('TigerVNC’s scraping server was not tried: it is not on this machine (tigervnc-scraping-server)\n');

const SESSION = '01930000-0000-7000-8000-000000000001';
const IDENTITY = { device_id: '01930000-0000-7000-8000-000000000002', token: 'a'.repeat(64) };
const soon = <T>(check: () => T | Promise<T>) => eventually(check);
const ALL: Granted = { session_id: SESSION, input: true, clipboard: false };

interface Dial {
  socket: WebSocket;
  texts: string[];
  heard: Buffer;
  closed: number | undefined;
}

/** The server's end of the agent's connections, which passes on to a page that the test plays. */
async function startEnd() {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, path: `/api${SCREEN_PATH}` });
  const dials: Dial[] = [];
  sockets.on('connection', (socket) => {
    const dial: Dial = { socket, texts: [], heard: Buffer.alloc(0), closed: undefined };
    dials.push(dial);
    socket.on('message', (bytes: Buffer, is_binary) => {
      if (is_binary) dial.heard = Buffer.concat([dial.heard, bytes]);
      else dial.texts.push(bytes.toString());
    });
    socket.on('close', (code) => (dial.closed = code));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  const { port } = address;
  onTestFinished(() => {
    for (const { socket } of dials) socket.terminate();
    sockets.close();
    http.close();
  });
  return { server: new URL(`http://127.0.0.1:${port}`), dials };
}

/** An agent's control, and a page that sees its screen. */
async function connected(environment: NodeJS.ProcessEnv, folder: string, granted: Granted = ALL) {
  const { server, dials } = await startEnd();
  const control = new Control({
    server,
    identity: IDENTITY,
    lookup: createResolver(server).lookup,
    folder,
    environment,
    log: () => {},
  });
  onTestFinished(() => control.close());
  control.want(granted);
  const dial = await soon(() => {
    const [first] = dials;
    if (first?.texts[0] === undefined) throw new Error('the agent has not dialled');
    return first;
  });
  const agent = dial.socket;
  expect(screenHelloSchema.parse(JSON.parse(dial.texts[0] ?? ''))).toEqual({ kind: 'hello', ...IDENTITY, session_id: SESSION });
  agent.send('{"kind":"paired"}');
  const say = (bytes: Buffer) => agent.send(bytes);
  return {
    control,
    dials,
    say,
    agent,
    heard: () => dial.heard,
    closed: () => dial.closed,
    ends: () => dial.texts.slice(1).map((text) => screenEndsSchema.parse(JSON.parse(text))),
    /** The agent has read earlier messages: it answers a later one. */
    async fence() {
      const before = dial.heard.length;
      say(updateRequest(800, 600));
      await soon(() => expect(dial.heard.length).toBeGreaterThan(before));
    },
    async begin() {
      const { width, height } = await shakeHands(() => dial.heard, say);
      say(encodings(16, 1, 0, -239));
      // The pointer over the terminal: it has the keys then.
      say(pointer(200, 200));
      const before = dial.heard.length;
      say(updateRequest(width, height));
      await soon(() => expect(dial.heard.length).toBeGreaterThan(before + 100));
      return { width, height };
    },
  };
}

needing('a desktop of X11', NO_DESKTOP === undefined).describe('a desktop', () => {
  let desktop: TestDesktop;
  beforeAll(async () => {
    desktop = await startDesktop();
  });
  afterAll(() => desktop.close());
  const start = (granted?: Granted) => connected(desktop.environment, desktop.folder, granted);

  test('is seen, and typed text arrives unchanged', async () => {
    const page = await start();
    expect(await page.begin()).toEqual({ width: 800, height: 600 });
    const text = 'The quick brown fox, 0123456789: {[(~`!@#$%^&*-_=+\\|;"\'<>?/)]}\n';
    page.say(type(text));
    await soon(() => expect([desktop.typed(), page.ends()]).toEqual([text, []]));
  });

  test('takes no input while it may only be seen, and none after it was revoked', async () => {
    const page = await start({ ...ALL, input: false });
    await page.begin();
    const before = desktop.typed();
    page.say(type('not this\n'));
    // A later message passes, so the agent has read it.
    await page.fence();
    page.control.want(ALL);
    page.say(press(RETURN));
    await soon(() => expect(desktop.typed()).not.toBe(before));
    expect(desktop.typed().slice(before.length)).toBe('\n');

    page.say(type('half a line'));
    page.control.want(null);
    const at_revoke = desktop.typed();
    if (page.agent.readyState === page.agent.OPEN) page.say(type('after it\n'));
    await soon(() => expect(page.closed()).toBeDefined());
    const again = await start();
    await again.begin();
    again.say(press(RETURN));
    await soon(() => expect(desktop.typed()).not.toBe(at_revoke));
    expect(desktop.typed().slice(at_revoke.length)).not.toContain('after it');
  });

  test('is its person’s at once when they move the mouse', async () => {
    const page = await start();
    await page.begin();
    page.say(pointer(300, 300));
    await soon(() => {
      page.say(pointer(310, 310));
      desktop.person('mousemove', '600', '500');
      expect(page.ends()).toEqual([{ kind: 'ends', why: 'own_input', detail: null }]);
    });
    const before = desktop.typed();
    await soon(() => expect(page.closed()).toBeDefined());
    expect(desktop.typed()).toBe(before);
    // It is dialled again only once it is granted again.
    expect(page.dials).toHaveLength(1);
  });

  // proves: remote-12
  test('is not controlled by bytes outside of RFB', async () => {
    const page = await start();
    await page.begin();
    page.say(Buffer.from([99, 1, 2, 3]));
    await soon(() =>
      expect(page.ends().map(({ why, detail }) => `${why} ${detail}`)).toEqual([
        'malformed A message of the page is not known (99).',
      ]),
    );
    await soon(() => expect(page.closed()).toBeDefined());
  });

  test('is dialled again when the technician’s page comes anew', async () => {
    const page = await start();
    await page.begin();
    page.agent.close(RFB_CLOSED.again);
    await soon(() => expect(page.dials).toHaveLength(2));
    page.dials[1]?.socket.close(RFB_CLOSED.not_granted);
    page.control.want(null);
    await soon(() => expect(page.dials[1]?.socket.readyState).toBe(3));
  });
});

needing('a desktop of X11', NO_DESKTOP === undefined && TIGERVNC !== undefined).describe(
  'a desktop that TigerVNC shows, without x11vnc',
  () => {
    /** Only the programs that a scraping server needs: a folder without x11vnc. */
    async function start(granted?: Granted) {
      const desktop = await startDesktop();
      onTestFinished(() => desktop.close());
      const path = join(desktop.folder, 'programs');
      mkdirSync(path);
      symlinkSync(TIGERVNC ?? '', join(path, basename(TIGERVNC ?? '')));
      return { desktop, page: await connected({ ...desktop.environment, PATH: path }, desktop.folder, granted) };
    }
    /** Answer of a TCP port of this computer: no program listens at the ports of VNC servers. */
    const knock = (port: number) =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('connect', () => resolve('open'));
        socket.once('error', () => resolve('closed'));
        socket.once('close', () => socket.destroy());
      });

    test('is seen, takes typed text only while it is granted, and listens on no port', async () => {
      const before = await knock(5900);
      const { desktop, page } = await start({ ...ALL, input: false });
      expect(await page.begin()).toEqual({ width: 800, height: 600 });
      expect(await knock(5900)).toBe(before);
      page.say(type('not this\n'));
      await page.fence();
      page.control.want(ALL);
      page.say(pointer(200, 200));
      const text = 'The quick brown fox, 0123456789: {[(~`!@#$%^&*-_=+\\|;"\'<>?/)]}\n';
      page.say(typeWithShift(text));
      await soon(() => expect([desktop.typed(), page.ends()]).toEqual([text, []]));
      page.control.want(null);
      await soon(() => expect(page.closed()).toBeDefined());
    });
  },
);

test('a computer without a desktop names the missing part', async () => {
  const page = await connected({ PATH: '', DISPLAY: ':999' }, '/nonexistent');
  await soon(() =>
    expect(
      page
        .ends()
        .map(({ why, detail }) => `${why} ${detail}`)
        .join(),
    ).toMatch(/^unavailable .*desktop/u),
  );
});

test('a server that sends invalid JSON is dialled anew', async () => {
  const { server, dials } = await startEnd();
  const control = new Control({
    server,
    identity: IDENTITY,
    lookup: createResolver(server).lookup,
    folder: '/nonexistent',
    environment: {},
    log: () => {},
  });
  onTestFinished(() => control.close());
  control.want(ALL);
  await soon(() => expect(dials[0]?.texts).toHaveLength(1));
  dials[0]?.socket.send('{');
  await soon(() => expect(dials).toHaveLength(2));
  expect(dials[0]?.closed).toBe(RFB_CLOSED.malformed);
});
