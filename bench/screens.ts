/** Every screen, by its path; the first one is where people sign in. */
export const SCREENS: readonly string[] = [
  '/',
  '/dashboard',
  '/antivirus',
  '/firewall',
  '/remote',
  '/portal',
  '/chat',
  '/live-chat',
  '/anti-hacking',
  '/subscription-manager',
  '/admin/setup',
  '/admin/users',
  '/admin/audit',
  '/admin/outbox',
  '/admin/false-alarms',
  '/confirm-email',
];
