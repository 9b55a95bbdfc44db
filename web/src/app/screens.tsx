import {
  IconBook,
  IconBuildingStore,
  IconChartBar,
  IconCreditCard,
  IconDeviceDesktop,
  IconDevices,
  IconFlag,
  IconHeadset,
  IconHelp,
  IconHome,
  IconInbox,
  IconListDetails,
  IconMessage,
  IconMessages,
  IconRadar2,
  IconScan,
  IconScreenShare,
  IconShield,
  IconUsers,
  IconWall,
  IconWorldCheck,
  IconZoomQuestion,
  type TablerIcon,
} from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';

/** Groups of the sidebar, by task, from the top. `support` is for staff, the ones below it for administrators; these can be folded. */
export const STAFF_GROUPS = ['support', 'people', 'records', 'settings'] as const;
export type StaffGroup = (typeof STAFF_GROUPS)[number];
export type NavGroup = 'main' | 'tools' | StaffGroup;

export interface NavPlace {
  group: NavGroup;
  /** Replaces the title. */
  label?: string;
  icon: TablerIcon;
  /** A small label after the name, such as 'Admin Only'. */
  note?: string;
  /** Opens the live-chat page in a new window instead of the screen. */
  opensLiveChat?: true;
}

/** The policy of `may` that a screen requires. Other people see the screen's notice (guarded.tsx). */
export type Guard = 'administrate' | 'useDesk';

export type Loaded = Promise<{ Component: ComponentType } | { element: ReactNode }>;

export interface Screen {
  path: `/${string}`;
  /** Title of the window and in the breadcrumbs. */
  title: string;
  /** Position in the sidebar, in the order of this table. */
  nav?: NavPlace;
  /** Undefined if the screen is for everyone. */
  guard?: Guard;
  /** Each screen is a separate chunk. */
  load: () => Loaded;
}

/**
 * Every screen behind the sign-in. Router, sidebar, dock, user menu, palette, breadcrumbs, window titles, and the journeys' list of screens derive from this table
 * (e2e/screens.ts reads the lines with `path`).
 */
export const SCREENS: readonly Screen[] = [
  {
    path: '/dashboard',
    title: 'Dashboard',
    nav: { group: 'main', icon: IconShield },
    load: async () => ({ Component: (await import('./home.tsx')).Home }),
  },
  {
    path: '/antivirus',
    title: 'Antivirus',
    nav: { group: 'main', icon: IconScan },
    load: async () => ({ Component: (await import('#features/antivirus/antivirus-page.tsx')).AntivirusPage }),
  },
  {
    path: '/firewall',
    title: 'Firewall',
    nav: { group: 'main', icon: IconWall },
    load: async () => ({ Component: (await import('#features/firewall/firewall-page.tsx')).FirewallPage }),
  },
  {
    path: '/remote',
    title: 'Remote Access',
    nav: { group: 'main', icon: IconDeviceDesktop },
    load: async () => ({ Component: (await import('#features/remote/remote-page.tsx')).RemotePage }),
  },
  {
    path: '/chat',
    title: 'Support Chat',
    nav: { group: 'main', icon: IconMessage, opensLiveChat: true },
    load: async () => ({ Component: (await import('#features/chat/chat-page.tsx')).ChatPage }),
  },
  {
    path: '/anti-hacking',
    title: 'Anti-Hacking',
    nav: { group: 'main', icon: IconRadar2 },
    load: async () => ({ element: (await import('./anti-hacking.tsx')).ANTI_HACKING }),
  },
  {
    path: '/subscription-manager',
    title: 'Subscription Manager',
    nav: { group: 'main', label: 'Subscriptions', note: 'Admin Only', icon: IconCreditCard },
    load: async () => ({
      Component: (await import('#features/subscriptions/subscription-manager-page.tsx')).SubscriptionManagerPage,
    }),
  },
  {
    path: '/scam-check',
    title: 'Scam check',
    nav: { group: 'tools', icon: IconZoomQuestion },
    load: async () => ({ Component: (await import('#features/scam-check/scam-check-page.tsx')).ScamCheckPage }),
  },
  {
    path: '/web-protection',
    title: 'Web protection',
    nav: { group: 'tools', icon: IconWorldCheck },
    load: async () => ({ Component: (await import('#features/web-protection/web-protection-page.tsx')).WebProtectionPage }),
  },
  {
    path: '/household',
    title: 'Household',
    nav: { group: 'tools', icon: IconHome },
    load: async () => ({ Component: (await import('#features/household/household-page.tsx')).HouseholdPage }),
  },
  {
    path: '/devices',
    title: 'Devices',
    nav: { group: 'tools', icon: IconDevices },
    load: async () => ({ Component: (await import('#features/devices/devices-page.tsx')).DevicesPage }),
  },
  {
    path: '/help',
    title: 'Help',
    nav: { group: 'tools', icon: IconHelp },
    load: async () => ({ Component: (await import('#features/help/help-page.tsx')).HelpPage }),
  },
  {
    path: '/help/:slug',
    title: 'Help page',
    load: async () => ({ Component: (await import('#features/help/article-page.tsx')).ArticlePage }),
  },
  {
    path: '/support',
    title: 'Support Desk',
    nav: { group: 'support', icon: IconHeadset },
    guard: 'useDesk',
    load: async () => ({ Component: (await import('#features/support/support-page.tsx')).SupportPage }),
  },
  {
    path: '/portal',
    title: 'Remote support portal',
    nav: { group: 'support', label: 'Portal', icon: IconScreenShare },
    load: async () => ({ Component: (await import('#features/remote/portal-page.tsx')).PortalPage }),
  },
  {
    path: '/admin/false-alarms',
    title: 'False alarms',
    nav: { group: 'support', icon: IconFlag },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/antivirus/false-alarms-page.tsx')).FalseAlarmsPage }),
  },
  {
    path: '/admin/users',
    title: 'Users',
    nav: { group: 'people', icon: IconUsers },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/administration/users-page.tsx')).UsersPage }),
  },
  {
    path: '/admin/outbox',
    title: 'Outbox',
    nav: { group: 'people', icon: IconInbox },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/outbox/outbox-page.tsx')).OutboxPage }),
  },
  {
    path: '/support/reports',
    title: 'Reports',
    nav: { group: 'records', icon: IconChartBar },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/support/reports-page.tsx')).ReportsPage }),
  },
  {
    path: '/admin/remote-sessions',
    title: 'Remote sessions',
    nav: { group: 'records', icon: IconDeviceDesktop },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/remote/overseen-page.tsx')).OverseenPage }),
  },
  {
    path: '/admin/audit',
    title: 'Audit log',
    nav: { group: 'records', icon: IconListDetails },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/administration/audit-page.tsx')).AuditPage }),
  },
  {
    path: '/admin/setup',
    title: 'Admin Setup',
    nav: { group: 'settings', label: 'Setup', icon: IconBuildingStore },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/setup/setup-page.tsx')).SetupPage }),
  },
  {
    path: '/support/answers',
    title: 'Saved replies',
    nav: { group: 'support', icon: IconMessages },
    guard: 'useDesk',
    load: async () => ({ Component: (await import('#features/support/answers-page.tsx')).AnswersPage }),
  },
  {
    path: '/admin/help',
    title: 'Edit help pages',
    nav: { group: 'settings', icon: IconBook },
    guard: 'administrate',
    load: async () => ({ Component: (await import('#features/help/edit-help-page.tsx')).EditHelpPage }),
  },
  {
    path: '/household/join',
    title: 'Join a home',
    load: async () => ({ Component: (await import('#features/household/join-home-page.tsx')).JoinHomePage }),
  },
  {
    path: '/confirm-email',
    title: 'Confirm your email address',
    load: async () => ({ Component: (await import('#features/account/confirm-email-page.tsx')).ConfirmEmailPage }),
  },
];

export type NavScreen = Screen & { nav: NavPlace };

function hasPlace(screen: Screen): screen is NavScreen {
  return screen.nav !== undefined;
}

const NAV_SCREENS = SCREENS.filter(hasPlace);

/** The screens of a sidebar group, in the order of the table. */
export function screensOf(group: NavGroup, isAdministrator: boolean): NavScreen[] {
  return NAV_SCREENS.filter(({ nav, guard }) => nav.group === group && (isAdministrator || guard !== 'administrate'));
}

/** The sidebar group of the screen at a path. */
export function groupAt(pathname: string): NavGroup | undefined {
  return NAV_SCREENS.findLast(({ path }) => pathname === path || pathname.startsWith(`${path}/`))?.nav.group;
}

export function isStaffGroup(group: string | undefined | null): group is StaffGroup {
  return STAFF_GROUPS.some((one) => one === group);
}

/** Headings of groups, in the sidebar and in the breadcrumbs. */
export const GROUP_TITLES = {
  tools: 'Tools and help',
  support: 'Support',
  people: 'People',
  records: 'Records',
  settings: 'Settings',
} as const satisfies Partial<Record<NavGroup, string>>;

/** Breadcrumbs from the dashboard to the screen at a path: the group of a screen for administrators, the parent screen, and the screen. */
export function stepsTo(pathname: string, title: string | undefined): { title: string; path?: string }[] {
  const group = groupAt(pathname);
  const parent = NAV_SCREENS.find(({ path }) => pathname.startsWith(`${path}/`));
  // The menu has some screens in a group of their own, such as Reports.
  const above = parent?.nav.group === group ? parent : undefined;
  const isApart = pathname.startsWith('/admin/') || parent !== above;
  const of = isApart && isStaffGroup(group) ? [{ title: GROUP_TITLES[group] }] : [];
  return [...of, ...(above ? [{ title: above.title, path: above.path }] : []), ...(title ? [{ title }] : [])];
}
