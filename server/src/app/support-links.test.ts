import { readConfig } from '@palisade/contract/platform';
import { expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';

test('pages lead to the chat and the portal of the provider where the settings name them', async () => {
  const { call, close } = await startTestApp({
    environment: { LIVE_CHAT_URL: 'https://chat.example.com/', REMOTE_PORTAL_URL: 'https://portal.example.com/' },
  });
  expect(replyOf(await call(readConfig)).links).toEqual({
    live_chat: 'https://chat.example.com/',
    remote_portal: 'https://portal.example.com/',
  });
  await close();
});
