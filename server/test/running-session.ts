import { createSession, joinSession } from '@palisade/contract/remote';
import { approveSession } from '@palisade/contract/remote-session';
import { AgentDouble, enrol } from './agent-double.ts';
import { type ListeningApp, replyOf } from './harness.ts';
import { listenAs, type TestSocket } from './socket.ts';

/** A page that takes its side's place in a session. */
export async function takePlace(app: Pick<ListeningApp, 'url'>, token: string, session_id: string): Promise<TestSocket> {
  const page = await listenAs(app, token);
  page.say({ kind: 'listen_remote', session_id });
  await page.event((event) => event.kind === 'remote_changed');
  return page;
}

/** A session that runs, with a page of each side, and a device of its customer that is connected. */
export async function startWithDevice(app: ListeningApp) {
  const { call, signIn } = app;
  const technician = await signIn(undefined, 'support');
  const customer = await signIn();
  const { id, session_code } = replyOf(await call(createSession, { token: customer.token }));
  replyOf(await call(joinSession, { token: technician.token, body: { session_code } }));
  const [hers, theirs] = [await takePlace(app, customer.token, id), await takePlace(app, technician.token, id)];
  replyOf(await call(approveSession, { token: customer.token, params: { id }, body: { view: 'screen' } }));
  const identity = await enrol(app, customer.token);
  const agent = await AgentDouble.connect(app.url, identity);
  return { technician, customer, id, hers, theirs, identity, agent };
}
