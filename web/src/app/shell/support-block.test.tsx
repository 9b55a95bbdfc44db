import { readChat } from '@palisade/contract/chat-read';
import { readConfig } from '@palisade/contract/platform';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { chatStateOf } from '#api/fake-desk.ts';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { SupportBlock } from './support-block.tsx';

// The settings are read once a page: this file has one test, so that they are not read before it.
it('is drawn once its content is known, so that it does not grow', async () => {
  const server = new FakeServer(MARIA);
  server.answer(readConfig, { ...CONFIG, support: { phone: '+1 800 555 0199', email: '', promise: '' } });
  server.answer(readChat, chatStateOf());
  render(
    <QueryClientProvider client={new QueryClient()}>
      <SupportBlock />
    </QueryClientProvider>,
  );
  expect(screen.queryByText('v3.7.9')).not.toBeInTheDocument();
  expect(await screen.findByText('v3.7.9')).toBeVisible();
  expect(screen.getByRole('link', { name: /800 555 0199/ })).toBeVisible();
});
