import type { BodySentOf } from '@palisade/contract/endpoint';
import {
  addWebName,
  checkWebName,
  readWebProtection,
  type WebDevice,
  type WebDeviceKind,
} from '@palisade/contract/web-protection';
import {
  IconBrandAndroid,
  IconBrandApple,
  IconBrandWindows,
  IconDeviceTv,
  IconRouter,
  IconTerminal2,
  IconWorld,
  type TablerIcon,
} from '@tabler/icons-react';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import type { Tone } from '#ui/badge.tsx';
import { describeMoment } from '#ui/moment.tsx';

/** Interval of refetching, in ms, because no event reports new counts. */
const STATE_INTERVAL = 30_000;

/** The key starts with `devices`, so events of devices refetch it. */
export const webProtectionQuery = queryOptions({
  queryKey: ['devices', 'web', 'all'],
  queryFn: ({ signal }) => call(readWebProtection, { signal }),
  refetchInterval: STATE_INTERVAL,
});

/** Checks whether the person's devices refuse a name now. */
export const nameCheckQuery = (name: string) =>
  queryOptions({
    queryKey: ['devices', 'web', 'check', name],
    queryFn: ({ signal }) => call(checkWebName, { query: { name }, signal }),
  });

export const useAddName = () =>
  useChange({ of: addWebName, mutationFn: (body: BodySentOf<typeof addWebName>) => call(addWebName, { body }) });

/** Each kind of device: its label, and the default name of a new one. */
export const KINDS: Record<WebDeviceKind, { label: string; line: string; name: string; icon: TablerIcon }> = {
  apple: { label: 'iPhone, iPad, or Mac', line: 'A few taps in Settings.', name: 'My iPhone', icon: IconBrandApple },
  android: { label: 'Android', line: 'One setting: Private DNS.', name: 'My Android phone', icon: IconBrandAndroid },
  windows: {
    label: 'Windows',
    line: 'Two lines to copy. We show you where.',
    name: 'My Windows computer',
    icon: IconBrandWindows,
  },
  browser: { label: 'Browser', line: 'Chrome, Edge, or Firefox alone.', name: 'My browser', icon: IconWorld },
  router: { label: 'Router', line: 'Every device in its network.', name: 'My router', icon: IconRouter },
  linux: { label: 'Linux', line: 'One file to copy (systemd-resolved).', name: 'My Linux computer', icon: IconTerminal2 },
  other: { label: 'TV or console', line: 'Its network settings.', name: 'My TV', icon: IconDeviceTv },
};

/** The state of web protection on a device. */
export function protectionOf({ last_question_at, is_silent }: WebDevice, now: number): { tone: Tone; words: string } {
  if (last_question_at === null) return { tone: 'note', words: 'Waiting for this device' };
  if (is_silent) return { tone: 'attention', words: `No website request since ${describeMoment(last_question_at, now)}` };
  return { tone: 'safe', words: 'Connected' };
}
