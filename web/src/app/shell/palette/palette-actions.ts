import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import {
  IconClipboardList,
  IconDevicesPlus,
  IconKey,
  IconLogout,
  IconMessagePlus,
  IconMoon,
  IconPlus,
  IconScreenShare,
  IconShieldLock,
  IconSun,
  IconUpload,
  IconUserCheck,
} from '@tabler/icons-react';
import { opensDesk } from '#api/policies.ts';
import { SCREENS, screensOf } from '#app/screens.tsx';
import type { PaletteItem } from './palette-items.ts';

/** Search words of a screen in addition to its title. */
const SCREEN_WORDS: Readonly<Record<string, string>> = {
  '/dashboard': 'home start score status overview',
  '/antivirus': 'scan file virus malware infected quarantine history',
  '/firewall': 'rules port block allow network',
  '/remote': 'remote session code screen share help technician',
  '/chat': 'message talk contact person conversation',
  '/anti-hacking': 'alerts threats monitor security check attacks',
  '/subscription-manager': 'plan price licence license template premium upgrade billing',
  '/devices': 'computer agent phone laptop linux windows mac',
  '/help': 'questions answers guide articles learn',
  '/support': 'inbox conversations tickets customers chat',
  '/portal': 'join remote session code technician',
  '/support/answers': 'canned answers shortcuts texts',
  '/support/reports': 'statistics figures weeks ratings response',
  '/admin/users': 'people accounts roles customers',
  '/admin/false-alarms': 'reports disputed harmless',
  '/admin/outbox': 'email mail letters unsent reset',
  '/admin/audit': 'history entries proof activity who',
  '/admin/help': 'articles write',
  '/admin/remote-sessions': 'oversight technicians running',
  '/admin/setup': 'company phone email hours settings provider',
};

/** Screens that this person's sidebar has. */
export function screenItems(user: UserInfo): PaletteItem[] {
  const isAdmin = may.administrate(user);
  const groups = [
    'main',
    'more',
    ...(opensDesk(user) ? (['support'] as const) : []),
    ...(isAdmin ? (['administration'] as const) : []),
  ] as const;
  return groups
    .flatMap((group) => screensOf(group, isAdmin))
    .map(({ path, title, nav }) => ({
      id: path,
      title,
      words: `${nav.label ?? ''} ${SCREEN_WORDS[path] ?? ''}`,
      icon: nav.icon,
      to: path,
    }));
}

interface ActionContext {
  user: UserInfo;
  pathname: string;
  setColorScheme: (scheme: 'light' | 'dark') => void;
  signOut: () => void;
}

/** Actions, named by verbs. Each opens the place of the action, or performs it. */
export function actionItems({ user, pathname, setColorScheme, signOut }: ActionContext): PaletteItem[] {
  // The dialog opens over the present screen.
  const here = SCREENS.some(({ path }) => path === pathname) ? pathname : '/dashboard';
  const own: PaletteItem[] = [
    { id: 'scan', title: 'Scan files', words: 'upload check virus', icon: IconUpload, to: '/antivirus' },
    { id: 'rule', title: 'Add a firewall rule', words: 'block allow port', icon: IconPlus, to: '/firewall' },
    { id: 'session', title: 'Get a session code', words: 'remote help new session', icon: IconKey, to: '/remote' },
    { id: 'device', title: 'Add a device', words: 'computer agent connect', icon: IconDevicesPlus, to: '/devices' },
    { id: 'message', title: 'Write to support', words: 'chat message ask help', icon: IconMessagePlus, to: '/chat' },
    {
      id: 'two-factor',
      title: 'Set up two-factor',
      words: 'authenticator passkey password sessions security preferences sign-in 2fa',
      icon: IconShieldLock,
      to: `${here}?open=security`,
    },
  ];
  const staff: PaletteItem[] = [
    {
      id: 'take',
      title: 'Take a conversation',
      words: 'claim unassigned waiting',
      icon: IconUserCheck,
      to: '/support?view=unassigned',
    },
    { id: 'join', title: 'Join a remote session', words: 'code portal', icon: IconScreenShare, to: '/portal' },
  ];
  const administration: PaletteItem[] = [
    {
      id: 'assign',
      title: 'Assign a plan',
      words: 'subscription give customer',
      icon: IconClipboardList,
      to: '/subscription-manager?tab=assign',
    },
    {
      id: 'requests',
      title: 'Answer plan requests',
      words: 'subscription manage',
      icon: IconClipboardList,
      to: '/subscription-manager?tab=manage',
    },
  ];
  const page: PaletteItem[] = [
    { id: 'light', title: 'Use light colors', words: 'theme scheme colors', icon: IconSun, to: () => setColorScheme('light') },
    { id: 'dark', title: 'Use dark colors', words: 'theme scheme colors', icon: IconMoon, to: () => setColorScheme('dark') },
    { id: 'leave', title: 'Sign out', words: 'log out leave', icon: IconLogout, to: signOut },
  ];
  return [...own, ...(opensDesk(user) ? staff : []), ...(may.administrate(user) ? administration : []), ...page];
}
