import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import type { Status } from '@palisade/contract/status';
import {
  IconAlertTriangle,
  IconBook,
  IconClipboardList,
  IconDeviceDesktopOff,
  IconDevicesPlus,
  IconKey,
  IconListDetails,
  IconLogout,
  IconMessagePlus,
  IconMoon,
  IconPassword,
  IconPlus,
  IconScreenShare,
  IconShieldLock,
  IconSun,
  IconUpload,
  IconUserCheck,
  IconUserCircle,
  IconUserPlus,
  IconZoomQuestion,
} from '@tabler/icons-react';
import { opensDesk } from '#api/policies.ts';
import { SCREENS, STAFF_GROUPS, screensOf } from '#app/screens.tsx';
import type { AccountTab } from '#features/account/account-dialog.tsx';
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
  '/web-protection': 'dns ads block websites safe search',
  '/household': 'family children kids parental controls bedtime screen time may i guardians profiles',
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
  const groups = ['main', 'tools', ...(isAdmin ? STAFF_GROUPS : opensDesk(user) ? (['support'] as const) : [])] as const;
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

/** The open steps of the person, the gravest first. */
export function stepItems(status: Status | undefined): PaletteItem[] {
  if (!status) return [];
  return [...(status.next ? [status.next] : []), ...status.others].map(({ id, title, action, evidence, fix_route }) => ({
    id: `step-${id}`,
    title: `${action}: ${title.replace(/\.$/u, '')}`,
    words: `${evidence} to do task problem`,
    icon: IconAlertTriangle,
    to: fix_route,
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
  const security = (tab: AccountTab) => `${here}?open=security&tab=${tab}`;
  const own: PaletteItem[] = [
    { id: 'scan', title: 'Scan files', words: 'a file upload check virus', icon: IconUpload, to: '/antivirus' },
    {
      id: 'scam',
      title: 'Check a message for a scam',
      words: 'link email phishing fraud real fake',
      icon: IconZoomQuestion,
      to: '/scam-check',
    },
    { id: 'rule', title: 'Add a firewall rule', words: 'block allow port', icon: IconPlus, to: '/firewall' },
    { id: 'session', title: 'Get a session code', words: 'remote help new session', icon: IconKey, to: '/remote' },
    {
      id: 'device',
      title: 'Add a device',
      words: 'computer agent connect protect phone laptop install',
      icon: IconDevicesPlus,
      to: '/devices',
    },
    { id: 'message', title: 'Write to support', words: 'chat message ask help', icon: IconMessagePlus, to: '/chat' },
    {
      id: 'two-factor',
      title: 'Set up two-factor',
      words: 'turn on off enable authenticator app passkey recovery codes security preferences sign-in 2fa',
      icon: IconShieldLock,
      to: security('two-factor'),
    },
    {
      id: 'password',
      title: 'Change password',
      words: 'new security preferences my your',
      icon: IconPassword,
      to: security('password'),
    },
    {
      id: 'sessions',
      title: 'Sign out everywhere else',
      words: 'end other sessions devices someone stolen lost security preferences',
      icon: IconDeviceDesktopOff,
      to: security('sessions'),
    },
    {
      id: 'activity',
      title: 'See what happened in your account',
      words: 'activity history sign-ins',
      icon: IconListDetails,
      to: security('activity'),
    },
    {
      id: 'profile',
      title: 'Change your name or email',
      words: 'profile settings username address download my data delete account',
      icon: IconUserCircle,
      to: security('profile'),
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
    { id: 'invite', title: 'Invite a person', words: 'add user people account', icon: IconUserPlus, to: '/admin/users' },
    { id: 'write', title: 'Write a help page', words: 'article new', icon: IconBook, to: '/admin/help?page=new' },
  ];
  const page: PaletteItem[] = [
    { id: 'light', title: 'Use light colors', words: 'theme scheme colors', icon: IconSun, to: () => setColorScheme('light') },
    { id: 'dark', title: 'Use dark colors', words: 'theme scheme colors', icon: IconMoon, to: () => setColorScheme('dark') },
    { id: 'leave', title: 'Sign out', words: 'log out leave', icon: IconLogout, to: signOut },
  ];
  return [...own, ...(opensDesk(user) ? staff : []), ...(may.administrate(user) ? administration : []), ...page];
}
