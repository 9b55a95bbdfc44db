import { MantineProvider } from '@mantine/core';
import type { Endpoint } from '@palisade/contract/endpoint';
import { leastAnswer } from '@palisade/contract/reader';
import { SPECIFIED_ANSWERS } from '@palisade/contract/specified-answers';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { createMemoryRouter, type RouteObject, RouterProvider } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { startSession } from '#api/session.ts';
import { readAnswer } from '#api/unknown-values.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { routes } from './router.tsx';

/**
 * Every screen over a server of another version: each call of the contract is answered, with the fields alone that a reader needs. Of the specification's calls these are its
 * own; of the others they are the ids, so that all else is a default.
 */

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value;
const endpoints = Object.values(
  import.meta.glob<Record<string, unknown>>(['../../../contract/src/*.ts', '!**/*.test.ts'], { eager: true }),
)
  .flatMap((module) => Object.values(module))
  .filter(isEndpoint);

const keyOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const answerOf = (endpoint: Endpoint): unknown =>
  SPECIFIED_ANSWERS[keyOf(endpoint)] ?? (endpoint.reply === undefined ? undefined : leastAnswer(endpoint.reply));

/** The endpoint of a call: of several that fit, the one with the most of its path written out. */
function endpointOf(method: string, path: string): Endpoint | undefined {
  return endpoints
    .filter((one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u').test(path))
    .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
}

const BROKEN = { type: 'about:blank', title: 'Internal', status: 500, code: 'internal', detail: 'The server is tired.' };

/** The paths of all screens, with something for each of their parameters. */
function pathsOf(some: readonly RouteObject[]): string[] {
  return some.flatMap(({ path, children }) => [
    ...(path === undefined || path === '*' ? [] : [path.replaceAll(/:\w+/gu, 'first-steps')]),
    ...pathsOf(children ?? []),
  ]);
}

let called: Set<string>;
/** Whether the server can read nothing. */
let isBroken: boolean;

beforeEach(() => {
  called = new Set();
  isBroken = false;
  startSession({ access_token: 'token-1', user_info: { ...MARIA, id: 'maria@example.com', role: 'admin' } });
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    const { pathname } = new URL(address, 'http://palisade.test');
    const endpoint = endpointOf(init.method ?? 'GET', pathname.replace(/^\/api/u, ''));
    if (endpoint === undefined) return new Response('{"detail":"Not Found"}', { status: 404 });
    called.add(keyOf(endpoint));
    if (isBroken && keyOf(endpoint) !== 'GET /config') return new Response(JSON.stringify(BROKEN), { status: 500 });
    const answer = answerOf(endpoint);
    return answer === undefined ? new Response(null, { status: 204 }) : new Response(JSON.stringify(answer), { status: 200 });
  });
});

it('knows every call of the contract', () => {
  expect(endpoints.length).toBeGreaterThan(150);
  const unread = endpoints.filter(
    ({ reply, reply_unspecified }) =>
      reply !== undefined && reply_unspecified !== true && readAnswer(reply, leastAnswer(reply)) === undefined,
  );
  expect(unread.map(keyOf)).toEqual([]);
});

function open(path: string): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <UploadsProvider>
          <RouterProvider router={createMemoryRouter(routes, { initialEntries: [path] })} />
        </UploadsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return client;
}

describe.each(['customer', 'admin'] as const)('for the role %s', (role) => {
  it.each(pathsOf(routes))('%s is drawn from answers with nothing but what it needs', { timeout: 30_000 }, async (path) => {
    startSession({ access_token: 'token-1', user_info: { ...MARIA, id: 'maria@example.com', role } });
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    const client = open(path);
    expect((await screen.findAllByRole('heading', { level: 1 }, { timeout: 8_000 }))[0]).toBeVisible();
    await waitFor(() => expect(client.isFetching()).toBe(0), { timeout: 8_000 });
    expect(screen.queryByText('Page not found')).not.toBeInTheDocument();
    expect(screen.queryByText(/this page cannot read/u)).not.toBeInTheDocument();
    expect(screen.queryByRole('heading', { name: /went wrong/iu })).not.toBeInTheDocument();
    expect(screen.queryByText(/\b(?:NaN|undefined|Invalid Date|\[object Object\])\b/u)).not.toBeInTheDocument();
    expect(failed.mock.calls.map((parts) => parts.map(String).join(' ').slice(0, 300))).toEqual([]);
    expect(called.size).toBeGreaterThan(0);
    cleanup();
  });
});

/** Screens that are whole without what they read: the form of the scam check, and the codes of mails. */
const WITHOUT_READING = ['/scam-check', '/confirm-email', '/household/join'];

it.each(pathsOf(routes).filter((path) => !WITHOUT_READING.includes(path)))(
  '%s says what could not be read, and reads it on Retry',
  { timeout: 30_000 },
  async (path) => {
    vi.spyOn(console, 'error').mockReturnValue();
    isBroken = true;
    const client = open(path);
    expect((await screen.findAllByText(BROKEN.detail, {}, { timeout: 8_000 }))[0]).toBeVisible();
    await waitFor(() => expect(client.isFetching()).toBe(0), { timeout: 8_000 });
    isBroken = false;
    for (const button of screen.getAllByRole('button', { name: 'Retry' })) fireEvent.click(button);
    await waitFor(() => expect(screen.queryByText(BROKEN.detail)).not.toBeInTheDocument(), { timeout: 8_000 });
    cleanup();
  },
);
