import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { MemoryRouter } from 'react-router';

/** Renders a part of a screen with what stands above all screens. Failures are not asked again, so that a test sees them at once. */
export function renderForTest(
  element: ReactNode,
  address = '/',
  queries = new QueryClient({ defaultOptions: { queries: { retry: false } } }),
) {
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <MemoryRouter initialEntries={[address]}>{element}</MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

/** Enters a text as one change, where its keys are not the subject: each key draws the page again. */
export async function enter(user: Pick<typeof userEvent, 'click' | 'paste'>, field: Element, text: string): Promise<void> {
  await user.click(field);
  await user.paste(text);
}
