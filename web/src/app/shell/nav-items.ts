import {
  IconCreditCard,
  IconDeviceDesktop,
  IconMessage,
  IconRadar2,
  IconScan,
  IconShield,
  IconWall,
  IconZoomQuestion,
  type TablerIcon,
} from '@tabler/icons-react';

export interface NavItem {
  path: string;
  label: string;
  icon: TablerIcon;
  /** A small label beside the name, such as 'Admin Only'. */
  note?: string;
  /** Opens the live-chat page in a new window instead of the screen at `path`. */
  opensLiveChat?: true;
}

/** The screens in the order of the sidebar. The first four stand in the phone's dock, the rest in its More panel. */
export const NAV_ITEMS: readonly NavItem[] = [
  { path: '/dashboard', label: 'Dashboard', icon: IconShield },
  { path: '/antivirus', label: 'Antivirus', icon: IconScan },
  { path: '/firewall', label: 'Firewall', icon: IconWall },
  { path: '/remote', label: 'Remote Access', icon: IconDeviceDesktop },
  { path: '/chat', label: 'Support Chat', icon: IconMessage, opensLiveChat: true },
  { path: '/anti-hacking', label: 'Anti-Hacking', icon: IconRadar2 },
  { path: '/subscription-manager', label: 'Subscriptions', note: 'Admin Only', icon: IconCreditCard },
  { path: '/scam-check', label: 'Scam check', icon: IconZoomQuestion },
];

/** Places in the phone's dock, beside More. */
export const DOCK_SIZE = 4;
