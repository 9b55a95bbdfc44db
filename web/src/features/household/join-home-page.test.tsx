import { joinHome, lookAtHomeInvite } from '@palisade/contract/household';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { JoinHomePage } from './join-home-page.tsx';

const server = FakeServer.ofEachTest(MARIA);
const user = userEvent.setup();

beforeEach(() => {
  window.history.replaceState(null, '', '/household/join#token-1');
});

it('says who invites and what it means, and joins', async () => {
  server.answer(lookAtHomeInvite, { invited_by: 'Anna', profiles: ['Mia', 'Ben'], has_own_home: false });
  renderForTest(<JoinHomePage />);
  expect(await screen.findByRole('heading', { name: 'Anna invites you to their home.' })).toBeVisible();
  expect(screen.getByText('You get the same rights over rules and devices of Mia and Ben.')).toBeVisible();
  server.on(joinHome, refusal('conflict', { detail: 'This home has no room for another guardian.' }));
  await user.click(screen.getByRole('button', { name: 'Join' }));
  expect(await screen.findByText('This home has no room for another guardian.')).toBeVisible();
  server.answer(joinHome, undefined);
  await user.click(screen.getByRole('button', { name: 'Join' }));
  await waitFor(() => expect(server.callsOf(joinHome).map(({ body }) => body)).toHaveLength(2));
  expect(server.callsOf(joinHome)[0]?.body).toEqual({ token: 'token-1' });
});

it.each([
  ['an old link', '#token-1', 'This invitation is over.'],
  ['no token', '', 'Open the link of your invitation.'],
])('says in one sentence that %s does not work', async (_, fragment, sentence) => {
  window.history.replaceState(null, '', `/household/join${fragment}`);
  server.on(lookAtHomeInvite, refusal('not_found', { detail: 'This invitation is over.' }));
  renderForTest(<JoinHomePage />);
  expect(await screen.findByText(sentence)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Join' })).toBeNull();
});

it('lets people with a home of their own leave it first', async () => {
  server.answer(lookAtHomeInvite, { invited_by: 'Anna', profiles: [], has_own_home: true });
  renderForTest(<JoinHomePage />);
  expect(await screen.findByText('You already have a home. Leave it first, on your household page.')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Join' })).toBeNull();
});
