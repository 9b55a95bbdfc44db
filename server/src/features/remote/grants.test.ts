// proves: security-42

import { currentUser, logout } from '@palisade/contract/auth';
import { revokeDevice } from '@palisade/contract/devices';
import { completeSession } from '@palisade/contract/remote';
import type { LiveSession } from '@palisade/contract/remote-record';
import { grantInSession, listSessionAudit, readSession, revokeInSession } from '@palisade/contract/remote-session';
import { changeUser } from '@palisade/contract/users';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { AgentDouble, helloOf } from '#test/agent-double.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { startWithDevice } from '#test/running-session.ts';

const app = await startListeningApp();
const { call, signIn } = app;
const boss = await signIn('boss');
const soon = (check: () => unknown) => eventually(check);

/** A running session, and functions for its endpoints. */
async function running() {
  const one = await startWithDevice(app);
  const { customer, id, identity } = one;
  const of = (token: string) => ({ token, params: { id } });
  const read = async () => replyOf(await call(readSession, of(customer.token)));
  return {
    ...{ ...one, read },
    grant: (
      grant: 'view' | 'control' | 'clipboard' | 'files' | 'recording',
      token = customer.token,
      device: string | null = identity.device_id,
    ) =>
      call(grantInSession, {
        ...of(token),
        body: { grant, device_id: grant === 'files' || grant === 'recording' ? null : device },
      }),
    revoke: (grant: 'view' | 'control' | 'clipboard' | 'all', token = customer.token) =>
      call(revokeInSession, { ...of(token), body: { grant } }),
    held: async () => (await read()).grants.map(({ grant }) => grant),
    record: async () =>
      replyOf(await call(listSessionAudit, of(customer.token))).flatMap(({ kind, details, by }) =>
        kind === 'remote_granted' || kind === 'remote_revoked'
          ? [`${kind} ${details['grant']} ${details['reason'] ?? ''} ${by}`]
          : [],
      ),
  };
}

describe('a grant', () => {
  test('only the customer can give it, for one of their devices, and both pages and the record show it', async () => {
    const one = await running();
    expect(await one.held()).toEqual(['view']);
    expect(problemOf(await one.grant('control', one.technician.token)).status).toBe(404);
    expect(problemOf(await one.grant('control', boss.token)).status).toBe(404);
    const stranger = await running();
    expect(problemOf(await one.grant('control', one.customer.token, stranger.identity.device_id)).status).toBe(409);
    expect(problemOf(await one.grant('control', one.customer.token, null)).code).toBe('invalid_field');
    expect(problemOf(await one.grant('clipboard')).detail).toMatch(/^Allow viewing or control/u);
    expect(await one.record()).toEqual([]);

    const session = replyOf(await one.grant('control'));
    expect(session.grants).toMatchObject([
      { grant: 'view', device: null },
      {
        grant: 'control',
        granted_by: session.grants[0]?.granted_by,
        device: { id: one.identity.device_id, device_name: 'laptop' },
      },
    ]);
    replyOf(await one.grant('clipboard'));
    replyOf(await one.grant('files'));
    // Twice is once.
    replyOf(await one.grant('control'));
    const all = ({ grants }: LiveSession) => grants.map(({ grant }) => grant).join() === 'view,control,clipboard,files';
    for (const page of [one.hers, one.theirs]) await page.event((event) => event.kind === 'remote_changed' && all(event.session));

    replyOf(await one.revoke('control'));
    // The clipboard went with the control that it was for.
    expect(await one.held()).toEqual(['view', 'files']);
    expect((await one.read()).grants_ended).toMatchObject({ grants: ['control', 'clipboard'], why: 'customer' });
    expect(await one.record()).toEqual([
      'remote_granted control  self',
      'remote_granted clipboard  self',
      'remote_granted files  self',
      'remote_revoked control customer self',
      'remote_revoked clipboard customer self',
    ]);
  });

  test('is given back by the technician, and ended all at once', async () => {
    const one = await running();
    for (const grant of ['control', 'clipboard', 'recording'] as const) replyOf(await one.grant(grant));
    replyOf(await one.revoke('clipboard', one.technician.token));
    expect(await one.held()).toEqual(['view', 'control', 'recording']);
    replyOf(await one.revoke('all'));
    expect(await one.held()).toEqual(['view']);
  });

  test.each<[string, (one: Awaited<ReturnType<typeof running>>) => Promise<unknown>]>([
    ['the session', async (one) => replyOf(await call(completeSession, { token: one.customer.token, params: { id: one.id } }))],
    ['the customer’s page', (one) => Promise.resolve(one.hers.leave())],
    ['the technician’s page', (one) => Promise.resolve(one.theirs.leave())],
    ['the customer’s sign-in', (one) => call(logout, { token: one.customer.token })],
    ['the technician’s sign-in', (one) => call(logout, { token: one.technician.token })],
    [
      'the technician’s role',
      async (one) => {
        const { id: user_id } = replyOf(await call(currentUser, { token: one.technician.token }));
        replyOf(await call(changeUser, { token: boss.token, body: { user_id, role: 'customer' } }));
      },
    ],
  ])('ends with %s', async (_, end) => {
    const one = await running();
    replyOf(await one.grant('control'));
    await end(one);
    const theirs = one.customer.token;
    await soon(async () => {
      const answer = await call(readSession, { token: theirs, params: { id: one.id } });
      if (answer.status === 200) expect(replyOf(answer).grants.map(({ grant }) => grant)).not.toContain('control');
      else expect(answer.status).toBe(401);
    });
  });

  test('of a device that is not connected, or of an agent that cannot, is refused with the reason', async () => {
    const one = await running();
    one.agent.close();
    await soon(async () =>
      expect(problemOf(await one.grant('control')).detail).toMatch(/isn’t connected|is offline|not connected/u),
    );
    const capabilities = { ...helloOf(one.identity).capabilities, control: false, control_reason: 'Nobody is signed in.' };
    await AgentDouble.connect(app.url, one.identity, { capabilities });
    expect(problemOf(await one.grant('control')).detail).toBe('Nobody is signed in.');
    replyOf(await call(revokeDevice, { token: one.customer.token, params: { id: one.identity.device_id } }));
    expect(problemOf(await one.grant('control')).detail).toMatch(/no longer in your account/u);
  });
});
