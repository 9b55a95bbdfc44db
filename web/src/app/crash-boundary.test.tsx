import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { CrashBoundary } from './crash-boundary.tsx';

function Broken(): never {
  throw new Error('a fault in a screen');
}

const open = (at: string, isBroken: boolean) => (
  <MantineProvider env="test">
    <CrashBoundary at={at}>{isBroken ? <Broken /> : <h1>Another screen</h1>}</CrashBoundary>
  </MantineProvider>
);

it('says that a screen broke, offers to load it again, logs the fault, and is done with it at the next address', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  const { rerender } = render(open('/devices', true));
  expect(await screen.findByRole('heading', { name: 'This page broke' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Load again' })).toBeVisible();
  expect(screen.queryByText(/a fault in a screen/u)).not.toBeInTheDocument();
  expect(log.mock.calls.flat()).toContainEqual(expect.objectContaining({ message: 'a fault in a screen' }));
  rerender(open('/help', false));
  expect(screen.getByRole('heading', { name: 'Another screen' })).toBeVisible();
});
