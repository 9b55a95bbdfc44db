import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { expect, it, vi } from 'vitest';
import { CrashBoundary } from './crash-boundary.tsx';
import { RouteError } from './route-error.tsx';

function Broken(): never {
  throw new Error('a fault in a screen');
}

it('says that a screen broke, offers to load it again, and logs the fault', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
  const router = createMemoryRouter([{ path: '/', element: <Broken />, errorElement: <RouteError /> }]);
  render(
    <MantineProvider env="test">
      <RouterProvider router={router} />
    </MantineProvider>,
  );
  expect(await screen.findByRole('heading', { name: 'This page broke' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Load again' })).toBeVisible();
  expect(screen.queryByText(/a fault in a screen/u)).not.toBeInTheDocument();
  expect(log.mock.calls.flat()).toContainEqual(expect.objectContaining({ message: 'a fault in a screen' }));
});

it('says the same of what stands outside the screens', () => {
  vi.spyOn(console, 'error').mockReturnValue();
  render(
    <CrashBoundary>
      <Broken />
    </CrashBoundary>,
  );
  expect(screen.getByRole('heading', { name: 'This page broke' })).toBeVisible();
});
