import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { MemoryRouter } from 'react-router';

/** Renders an element with the app's providers. Queries do not retry, so that a test sees failures at once. */
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

export const textsOf = (elements: readonly Element[]) => elements.map(({ textContent }) => textContent);

/** Enters text as one change, because each typed key renders the page. For tests that are not about keys. */
export async function enter(user: Pick<typeof userEvent, 'click' | 'paste'>, field: Element, text: string): Promise<void> {
  await user.click(field);
  await user.paste(text);
}
