import { MantineProvider } from '@mantine/core';
import { SPECIFIED_ANSWERS } from '@palisade/contract/specified-answers';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { beforeEach, expect, it, vi } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { startSession } from '#api/session.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { routes } from './router.tsx';

/** Every page over a server that has the specification's calls and fields alone: 404 for all others, and errors that are a `detail`. */

beforeEach(() => {
  startSession({ access_token: 'token-1', user_info: { ...MARIA, id: 'maria@example.com', role: 'admin' } });
  const answerTo = (method: string, path: string) => {
    const known = Object.entries(SPECIFIED_ANSWERS).find(([call]) => {
      const [named = '', pattern = ''] = call.split(' ');
      return named === method && new RegExp(`^${pattern.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u').test(path);
    });
    return known?.[1];
  };
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    const { pathname } = new URL(address, 'http://palisade.test');
    const answer = answerTo(init.method ?? 'GET', pathname.replace(/^\/api/u, ''));
    return answer === undefined
      ? new Response(JSON.stringify({ detail: 'Not Found' }), { status: 404 })
      : new Response(JSON.stringify(answer), { status: 200 });
  });
  vi.stubGlobal('confirm', () => true);
});

function open(path: string) {
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <UploadsProvider>
          <RouterProvider router={createMemoryRouter(routes, { initialEntries: [path] })} />
        </UploadsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return userEvent.setup();
}

const WAIT = { timeout: 8_000 };

it.each([
  ['/dashboard', ['Gold', 'report.pdf']],
  ['/antivirus', ['report.pdf', '9f86d081']],
  ['/firewall', ['Web', '443']],
  ['/chat', ['Hello']],
  ['/remote', ['K7M4QP9XD']],
  ['/anti-hacking', ['Many wrong passwords.']],
  ['/subscription-manager', []],
] as const)('%s shows what the specification names', { timeout: 20_000 }, async (path, texts) => {
  open(path);
  expect(await screen.findByRole('heading', { level: 1 }, WAIT)).toBeVisible();
  for (const text of texts) expect((await screen.findAllByText(new RegExp(text, 'u'), {}, WAIT)).length).toBeGreaterThan(0);
  expect(screen.queryByText(/this page cannot read/u)).not.toBeInTheDocument();
  expect(screen.queryByRole('heading', { name: /went wrong/iu })).not.toBeInTheDocument();
});

it('a rule is switched off where the answer says nothing', { timeout: 20_000 }, async () => {
  const user = open('/firewall');
  const status = await screen.findByRole('switch', { name: /Web/u }, WAIT);
  expect(status).toBeChecked();
  await user.click(status);
  await waitFor(() => expect(status).not.toBeChecked());
  expect(screen.queryByText(/was not changed/u)).not.toBeInTheDocument();
});
