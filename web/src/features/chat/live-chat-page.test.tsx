import { listMessages } from '@palisade/contract/chat-read';
import { readConfig } from '@palisade/contract/platform';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { LiveChatPage } from './live-chat-page.tsx';

// proves: support-customer-30
it('is the chat alone, with the provider’s name, number and addresses', async () => {
  const server = new FakeServer(MARIA);
  server.answer(listMessages, []);
  server.answer(readConfig, {
    ...CONFIG,
    provider_name: 'Acme Security',
    support: { phone: '+1 800 555 0199', email: 'help@example.com', promise: '' },
    links: { live_chat: 'https://chat.example.com/', remote_portal: null },
  });
  renderForTest(<LiveChatPage />);
  expect(screen.getByRole('heading', { level: 1, name: 'Support Chat' })).toBeVisible();
  expect(await screen.findByText('Acme Security')).toBeVisible();
  expect(await screen.findByText('What can we help with?')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Call support' })).toHaveAttribute('href', 'tel:+1 800 555 0199');
  expect(document.title).toBe('Live chat · Palisade');
  await userEvent.click(screen.getByRole('button', { name: 'Video and live chat' }));
  expect(await screen.findByRole('link', { name: 'Open live chat' })).toHaveAttribute('href', 'https://chat.example.com/');
  expect(screen.getByRole('link', { name: 'Call now' })).toHaveAttribute('href', 'tel:+1 800 555 0199');
  expect(screen.getByRole('link', { name: 'Write an email' })).toHaveAttribute('href', 'mailto:help@example.com');
});
