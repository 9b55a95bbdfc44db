/** Every screen behind the sign-in, by its path, as web/src/app/router.tsx has them: the first is where a sign-in leads. The one list of journeys and measurements. */
export const SCREENS: readonly string[] = [
  '/dashboard',
  '/antivirus',
  '/firewall',
  '/scam-check',
  '/devices',
  '/remote',
  '/portal',
  '/chat',
  '/live-chat',
  '/support',
  '/support/answers',
  '/support/reports',
  '/help',
  '/anti-hacking',
  '/subscription-manager',
  '/confirm-email',
  '/admin/setup',
  '/admin/help',
  '/admin/users',
  '/admin/audit',
  '/admin/outbox',
  '/admin/false-alarms',
  '/admin/remote-sessions',
];

/** The same after the screen where people sign in. */
export const SCREENS_AND_SIGN_IN: readonly string[] = ['/', ...SCREENS];
