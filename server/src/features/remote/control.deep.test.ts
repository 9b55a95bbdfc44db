import { RFB_CLOSED, SCREEN_PATH, VIEWER_PATH } from '@palisade/contract/remote-control';
import { grantInSession } from '@palisade/contract/remote-session';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { startWithDevice } from '#test/running-session.ts';

const app = await startListeningApp();

// proves: remote-21
test('both ends of a control session are let in however many others say nothing', async () => {
  const { customer, technician, id, identity } = await startWithDevice(app);
  const body = { grant: 'control', device_id: identity.device_id } as const;
  replyOf(await app.call(grantInSession, { token: customer.token, params: { id }, body }));
  let closed = 0;
  const dial = (path: string) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/api${path}`);
    onTestFinished(() => socket.terminate());
    socket.on('error', () => {});
    return socket;
  };
  for (let count = 0; count < 520; count += 1)
    dial(VIEWER_PATH).on('close', (code) => {
      if (code === RFB_CLOSED.silent) closed += 1;
    });
  const ends = [
    { path: VIEWER_PATH, hello: { access_token: technician.token } },
    { path: SCREEN_PATH, hello: identity },
  ].map(({ path, hello }) => {
    const socket = dial(path);
    const texts: string[] = [];
    socket.on('message', (bytes: Buffer) => texts.push(bytes.toString()));
    socket.on('open', () => socket.send(JSON.stringify({ kind: 'hello', ...hello, session_id: id })));
    return texts;
  });
  await eventually(() => expect(ends).toEqual([['{"kind":"paired"}'], ['{"kind":"paired"}']]));
  // All from one place: 250 of them at once have time to say who they are.
  await eventually(() => expect(closed).toBeGreaterThanOrEqual(270));
});
