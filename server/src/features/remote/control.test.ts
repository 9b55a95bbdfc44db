import { logout } from '@palisade/contract/auth';
import { revokeDevice } from '@palisade/contract/devices';
import { completeSession } from '@palisade/contract/remote';
import { RFB_CLOSED, RFB_FRAME_BYTES, SCREEN_PATH, VIEWER_PATH } from '@palisade/contract/remote-control';
import type { GrantKind } from '@palisade/contract/remote-grant';
import { grantInSession, readSession, revokeInSession } from '@palisade/contract/remote-session';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createMemoryTopics } from '#platform/topics/memory-topics.ts';
import type { AgentIdentity } from '#test/agent-double.ts';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { startWithDevice } from '#test/running-session.ts';
import { createControlPairs, type EndSocket } from './control-pairs.ts';

const app = await startListeningApp();
const { call } = app;
const soon = <T>(check: () => T | Promise<T>) => eventually(check);

/** A socket of one of the two ends. */
function dial(path: string, hello: unknown, origin?: string) {
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/api${path}`, origin === undefined ? {} : { origin });
  onTestFinished(() => socket.terminate());
  const texts: string[] = [];
  let heard = Buffer.alloc(0);
  let closed: number | undefined;
  socket.on('message', (bytes: Buffer, isBinary) => {
    if (isBinary) heard = Buffer.concat([heard, bytes]);
    else texts.push(bytes.toString());
  });
  socket.on('error', () => {});
  socket.on('close', (code) => (closed = code));
  socket.on('open', () => socket.send(typeof hello === 'string' ? hello : JSON.stringify(hello)));
  return {
    socket,
    heard: () => heard.toString('latin1'),
    paired: () => soon(() => expect(texts).toEqual(['{"kind":"paired"}'])),
    texts,
    ending: () =>
      soon(() => {
        if (closed === undefined) throw new Error('it is open');
        return closed;
      }),
  };
}

async function running() {
  const one = await startWithDevice(app);
  const { technician, customer, id, identity } = one;
  const params = { id };
  const grant = async (kind: GrantKind = 'control') =>
    replyOf(await call(grantInSession, { token: customer.token, params, body: { grant: kind, device_id: identity.device_id } }));
  return {
    ...{ ...one, grant },
    viewer: (token = technician.token) => dial(VIEWER_PATH, { kind: 'hello', access_token: token, session_id: id }),
    screen: (of: AgentIdentity = identity) => dial(SCREEN_PATH, { kind: 'hello', ...of, session_id: id }),
    revoke: async () => replyOf(await call(revokeInSession, { token: customer.token, params, body: { grant: 'all' } })),
    read: async () => replyOf(await call(readSession, { token: customer.token, params })),
  };
}

async function paired() {
  const one = await running();
  await one.grant();
  const [viewer, screen] = [one.viewer(), one.screen()];
  await Promise.all([viewer.paired(), screen.paired()]);
  return { ...one, theViewer: viewer, theScreen: screen };
}

describe('control', () => {
  test('is sent to the agent, and bytes pass between its socket and the technician’s page', async () => {
    const one = await running();
    expect((await one.agent.desired()).control).toBeNull();
    await one.grant('view');
    const told = await one.agent.desired(({ control }) => control !== null);
    expect(told.control).toEqual({ session_id: one.id, input: false, clipboard: false });
    await one.grant();
    await one.grant('clipboard');
    await one.agent.desired(({ control }) => control?.input === true && control.clipboard);

    const [viewer, screen] = [one.viewer(), one.screen()];
    await Promise.all([viewer.paired(), screen.paired()]);
    screen.socket.send(Buffer.from('RFB 003.008\n'));
    viewer.socket.send(Buffer.from('answer'));
    await soon(() => expect([viewer.heard(), screen.heard()]).toEqual(['RFB 003.008\n', 'answer']));
    // More than may wait for either passes whole, in order.
    const much = Buffer.alloc(RFB_FRAME_BYTES, 'abcdefg');
    for (let count = 0; count < 20; count += 1) screen.socket.send(much);
    await soon(() => expect(viewer.heard().length).toBe(12 + 20 * much.length));

    await one.revoke();
    await one.agent.desired(({ control }) => control === null);
    // The one that is ended first takes the other with it, which is told to connect again.
    const endings = [await viewer.ending(), await screen.ending()];
    expect(endings).toContain(RFB_CLOSED.not_granted);
    expect([RFB_CLOSED.not_granted, RFB_CLOSED.again]).toEqual(expect.arrayContaining(endings));
    expect(await one.viewer().ending()).toBe(RFB_CLOSED.not_granted);
    expect(await one.screen().ending()).toBe(RFB_CLOSED.not_granted);
  });

  test('needs the grant, and with it serves that session alone', async () => {
    const one = await running();
    expect(await one.viewer().ending()).toBe(RFB_CLOSED.not_granted);
    expect(await one.screen().ending()).toBe(RFB_CLOSED.not_granted);
    await one.grant();
    const other = await running();
    for (const viewer of [one.viewer(one.customer.token), one.viewer(other.technician.token)])
      expect(await viewer.ending()).toBe(RFB_CLOSED.not_granted);
    expect(await one.viewer('nobody').ending()).toBe(RFB_CLOSED.unauthenticated);
    expect(await one.screen({ ...one.identity, token: 'f'.repeat(64) }).ending()).toBe(RFB_CLOSED.unauthenticated);
    expect(await one.screen(other.identity).ending()).toBe(RFB_CLOSED.not_granted);
    expect(await dial(VIEWER_PATH, 'no JSON').ending()).toBe(RFB_CLOSED.malformed);
    expect(await dial(VIEWER_PATH, `{"kind":"hello","x":"${'x'.repeat(2_000)}"}`).ending()).toBe(RFB_CLOSED.too_big);
    // Another site’s page is refused before it is a socket.
    expect(await dial(VIEWER_PATH, '{}', 'https://evil.example').ending()).toBe(1006);
    // Bytes before the other side is there are unasked for.
    const early = one.viewer();
    await soon(() => expect(early.socket.readyState).toBe(WebSocket.OPEN));
    early.socket.send(Buffer.from('x'));
    expect(await early.ending()).toBe(RFB_CLOSED.malformed);
  });

  test.each<[string, (one: Awaited<ReturnType<typeof paired>>) => unknown]>([
    ['the session', (one) => call(completeSession, { token: one.customer.token, params: { id: one.id } })],
    ['the customer’s page', (one) => one.hers.leave()],
    ['the technician’s sign-in', (one) => call(logout, { token: one.technician.token })],
    ['the device', (one) => call(revokeDevice, { token: one.customer.token, params: { id: one.identity.device_id } })],
  ])('ends with %s', async (_, end) => {
    const one = await paired();
    await end(one);
    await one.theViewer.ending();
    one.theScreen.socket.send(Buffer.from('late'));
    expect(one.theViewer.heard()).toBe('');
  });

  // proves: remote-11
  test("ends with the agent's reason, or when the agent leaves; the view continues", async () => {
    const one = await paired();
    one.theScreen.socket.send('{"kind":"ends","why":"own_input","detail":null}');
    await one.theViewer.ending();
    // Heard by the pages too: a later end of this grant would close the sockets of the next one.
    await one.hers.event((event) => event.kind === 'remote_changed' && event.session.grants_ended?.why === 'own_input');
    expect((await one.read()).grants_ended).toMatchObject({ grants: ['control'], why: 'own_input' });
    await one.grant();
    const [viewer, screen] = [one.viewer(), one.screen()];
    await Promise.all([viewer.paired(), screen.paired()]);
    screen.socket.terminate();
    await viewer.ending();
    await soon(async () =>
      expect(await one.read()).toMatchObject({
        status: 'active',
        grants: [{ grant: 'view', device: null }],
        grants_ended: { why: 'agent_gone' },
      }),
    );
  });

  test('begins anew when the technician’s page comes again', async () => {
    const one = await paired();
    one.theViewer.socket.close();
    expect(await one.theScreen.ending()).toBe(RFB_CLOSED.again);
    const [viewer, screen] = [one.viewer(), one.screen()];
    await Promise.all([viewer.paired(), screen.paired()]);
    expect((await one.read()).grants.map(({ grant }) => grant)).toContain('control');
  });
});

describe('two ends on two servers', () => {
  /** One end as a server has it, which reads when the test says so. */
  function endOf() {
    const unsent: (() => void)[] = [];
    const state = { heard: '', is_paired: 0, is_paused: false, ended: 0 };
    const socket: EndSocket = {
      send(bytes, sent) {
        state.heard += bytes.toString('latin1');
        unsent.push(sent);
      },
      waiting: () => 0,
      paired() {
        state.is_paired += 1;
      },
      pause() {
        state.is_paused = true;
      },
      resume() {
        state.is_paused = false;
      },
      end({ code }) {
        state.ended = code;
      },
    };
    return Object.assign(state, {
      socket,
      reads() {
        for (const sent of unsent.splice(0)) sent();
      },
    });
  }
  const SESSION = '01930000-0000-7000-8000-000000000009';

  test('find each other, in any order, and pass no more than is read', async () => {
    for (const first of ['viewer', 'screen'] as const) {
      const topics = createMemoryTopics();
      onTestFinished(() => topics.close());
      const [viewer, screen] = [endOf(), endOf()];
      const servers = { viewer: createControlPairs(topics), screen: createControlPairs(topics) };
      const sockets = { viewer: viewer.socket, screen: screen.socket };
      const second = first === 'viewer' ? 'screen' : 'viewer';
      const ends = {
        [first]: servers[first].join(SESSION, first, sockets[first]),
        [second]: servers[second].join(SESSION, second, sockets[second]),
      };
      await soon(() => expect([viewer.is_paired, screen.is_paired]).toEqual([1, 1]));
      const piece = Buffer.alloc(RFB_FRAME_BYTES, 'x');
      let sent = 0;
      while (!screen.is_paused && sent < 100) {
        expect(ends['screen']?.pass(piece)).toBe(true);
        sent += 1;
      }
      expect(sent).toBeLessThan(10);
      await soon(() => expect(viewer.heard.length).toBe(sent * piece.length));
      expect(screen.is_paused).toBe(true);
      viewer.reads();
      await soon(() => expect(screen.is_paused).toBe(false));
      expect(ends['viewer']?.pass(Buffer.from('key'))).toBe(true);
      await soon(() => expect(screen.heard).toBe('key'));
      ends['screen']?.leave();
      await soon(() => expect(viewer.ended).toBe(RFB_CLOSED.again));
    }
  });

  test('keep their pair when the first one’s news comes back late to its own server', async () => {
    const topics = createMemoryTopics();
    onTestFinished(() => topics.close());
    const late: (() => void)[] = [];
    const pairs = createControlPairs({
      ...topics,
      publish: (topic, event) => void late.push(() => topics.publish(topic, event)),
    });
    const [viewer, screen] = [endOf(), endOf()];
    pairs.join(SESSION, 'viewer', viewer.socket);
    await soon(() => expect(late).toHaveLength(1));
    pairs.join(SESSION, 'screen', screen.socket);
    await soon(() => expect([viewer.is_paired, screen.is_paired]).toEqual([1, 1]));
    for (const arrive of late.splice(0)) arrive();
    expect([viewer.ended, screen.ended]).toEqual([0, 0]);
  });

  test('a new end at another server starts a new pair', async () => {
    const topics = createMemoryTopics();
    onTestFinished(() => topics.close());
    const [viewer, screen, later] = [endOf(), endOf(), endOf()];
    const [one, other, third] = [createControlPairs(topics), createControlPairs(topics), createControlPairs(topics)];
    one.join(SESSION, 'viewer', viewer.socket);
    other.join(SESSION, 'screen', screen.socket);
    await soon(() => expect([viewer.is_paired, screen.is_paired]).toEqual([1, 1]));
    third.join(SESSION, 'viewer', later.socket);
    await soon(() => expect([viewer.ended, screen.ended]).toEqual([RFB_CLOSED.not_granted, RFB_CLOSED.again]));
  });
});
