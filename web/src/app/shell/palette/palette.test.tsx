import { MantineProvider } from '@mantine/core';
import { listScans } from '@palisade/contract/antivirus';
import { listConversations } from '@palisade/contract/desk-list';
import { listRules } from '@palisade/contract/firewall';
import { listArticles } from '@palisade/contract/help';
import { listUsers } from '@palisade/contract/users';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { beforeEach, expect, it } from 'vitest';
import { MARIA, scanOf } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { PaletteButton } from '#app/shell/palette-button.tsx';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { textsOf } from '#ui/render-for-test.tsx';

const INVOICE = scanOf({ filename: 'invoice.pdf' });
const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(listScans, [INVOICE]);
  server.answer(listRules, []);
  server.answer(listArticles, []);
  server.answer(listUsers, []);
  server.answer(listConversations, []);
});

function open(role: 'customer' | 'support' | 'admin') {
  startSession({ access_token: 'token-1', user_info: { ...MARIA, role } });
  const router = createMemoryRouter([{ path: '*', element: <PaletteButton /> }], { initialEntries: ['/dashboard'] });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <UploadsProvider>
          <RouterProvider router={router} />
        </UploadsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { router, user: userEvent.setup() };
}

const field = () => screen.findByRole('combobox', { name: 'Search everything' });
const names = (group: string) => textsOf(within(screen.getByRole('group', { name: group })).getAllByRole('option'));

it('has the letters that were typed before it was loaded', async () => {
  const { user } = open('customer');
  await user.keyboard('{Control>}k{/Control}fire');
  expect(await field()).toHaveValue('fire');
  expect(screen.getAllByRole('option')[0]).toHaveTextContent('Firewall');
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await user.keyboard('{Control>}k{/Control}');
  expect(await field()).toHaveValue('');
});

it('opens with Ctrl-K, chooses with the arrows and leads to a screen with Enter', async () => {
  const { router, user } = open('customer');
  await user.keyboard('{Control>}k{/Control}');
  expect(await field()).toHaveFocus();
  expect(names('Screens')).toContain('Firewall');
  await user.keyboard('scan');
  expect(screen.getAllByRole('option')[0]).toHaveTextContent('Antivirus');
  await user.keyboard('{ArrowDown}');
  const chosen = screen.getByRole('option', { selected: true });
  expect(chosen).toHaveTextContent('Scan files');
  expect(await field()).toHaveAttribute('aria-activedescendant', chosen.id);
  await user.keyboard('{ArrowUp}{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/antivirus'));
  expect(screen.queryByRole('combobox')).not.toBeInTheDocument();
  expect(screen.getByRole('button', { name: 'Search' })).toHaveFocus();
});

it('shows a customer neither the screens of staff nor other people', async () => {
  const { user } = open('customer');
  await user.keyboard('{Meta>}k{/Meta}');
  await user.type(await field(), 'invoice');
  expect(await screen.findByRole('option', { name: /invoice\.pdf/u })).toBeVisible();
  expect(server.callsOf(listUsers)).toEqual([]);
  expect(server.callsOf(listConversations)).toEqual([]);
  await user.clear(await field());
  expect(names('Screens')).not.toContain('Users');
  expect(names('Screens')).not.toContain('Support Desk');
  await user.type(await field(), 'xyzzy');
  server.answer(listScans, []);
  expect(await screen.findByText('Nothing matches “xyzzy”. Try another word.')).toBeVisible();
});

it('finds the record that was typed, and leads to it', async () => {
  const { router, user } = open('customer');
  await user.click(screen.getByRole('button', { name: 'Search' }));
  await user.type(await field(), 'invoice');
  await user.click(await screen.findByRole('option', { name: /invoice\.pdf/u }));
  expect(router.state.location.pathname + router.state.location.search).toBe(`/antivirus?scan=${INVOICE.id}`);
});

it.each([
  ['turn on two-factor', '?open=security&tab=two-factor'],
  ['change password', '?open=security&tab=password'],
  ['end other sessions', '?open=security&tab=sessions'],
  ['scan a file', '/antivirus'],
  ['add a device', '/devices'],
])('finds the action %j', async (typed, to) => {
  const { router, user } = open('customer');
  await user.keyboard('{Control>}k{/Control}');
  await user.type(await field(), typed);
  const actions = within(screen.getByRole('group', { name: 'Actions' }));
  expect(actions.getAllByRole('option')).toHaveLength(1);
  await user.click(actions.getByRole('option'));
  await waitFor(() => expect(router.state.location.pathname + router.state.location.search).toContain(to));
});

it('finds help pages by the words in them', async () => {
  const article = { id: INVOICE.id, slug: 'ransom-note', title: 'My files are locked', summary: 'Don’t pay.' };
  server.answer(listArticles, [{ ...article, is_published: true, updated_at: INVOICE.scanned_at }]);
  const { router, user } = open('customer');
  await user.keyboard('{Control>}k{/Control}');
  await user.type(await field(), 'memory');
  await user.click(await screen.findByRole('option', { name: 'My files are locked' }));
  expect(server.callsOf(listArticles)).toHaveLength(1);
  await waitFor(() => expect(router.state.location.pathname).toBe('/help/ransom-note'));
});

it('lists what is an administrator\u2019s, and asks the desk for a technician', async () => {
  const { user } = open('admin');
  await user.keyboard('{Control>}k{/Control}');
  await field();
  expect(names('Screens')).toEqual(expect.arrayContaining(['Users', 'Support Desk', 'Saved replies', 'Admin Setup']));
  await user.keyboard('maria');
  await waitFor(() => expect(server.callsOf(listUsers)).toHaveLength(1));
  expect(server.callsOf(listConversations)).toHaveLength(1);
});
