import { type Config, useConfig } from './config.ts';

/** Built-in pages, used if the provider has no own pages. */
const OWN_PAGES = { live_chat: '/live-chat', remote_portal: '/portal' } as const satisfies Record<keyof Config['links'], string>;

/** Addresses of the live-chat page and the remote-support portal. Each opens in a new window. */
export function useSupportLinks(): Record<keyof Config['links'], string> {
  const links = useConfig()?.links;
  return {
    live_chat: links?.live_chat ?? OWN_PAGES.live_chat,
    remote_portal: links?.remote_portal ?? OWN_PAGES.remote_portal,
  };
}
