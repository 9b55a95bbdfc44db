import { may } from '@palisade/contract/may';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useSession } from '#api/session.ts';
import { AdministratorsOnly, type AdministratorsOnlyProps } from '#ui/administrators-only.tsx';
import { NoticeInPlace } from '#ui/page.tsx';
import type { Guard, Loaded, Screen } from './screens.tsx';

/** Notices of guarded screens. Not in the table of screens, because the dashboard loads that table. */
const NOTICES: Readonly<Record<string, AdministratorsOnlyProps>> = {
  '/support': {
    title: 'Staff only',
    sentence: 'Only support staff can open the desk. To write to us, open the support chat.',
    action: <Link to="/chat">Open the support chat</Link>,
  },
  '/support/answers': { title: 'Staff only', sentence: 'Only support staff can see saved replies.' },
  '/support/reports': { sentence: 'Reports name people of the staff, so only administrators see them.' },
  '/admin/users': { sentence: 'The list names other people, so only administrators see it.' },
  '/admin/false-alarms': { sentence: 'Reports name other people’s files. Only administrators can see them.' },
  '/admin/outbox': { sentence: 'Emails can hold codes that open an account, so only administrators see them.' },
  '/admin/audit': {
    sentence: 'The log shows other people’s actions, so only administrators see it. Your own are in Security Preferences.',
  },
  '/admin/help': { sentence: 'Only administrators write the help pages.' },
  '/admin/remote-sessions': {
    sentence: 'The list says who was helped by whom, so only administrators see it. Your own sessions are under Remote Access.',
  },
  '/admin/setup': { sentence: "Only administrators set the provider's name and contact." },
};

/** Notices of screens without one of their own. */
const OTHER_NOTICES: Record<Guard, AdministratorsOnlyProps> = {
  administrate: { sentence: 'Only administrators can open this screen.' },
  useDesk: { title: 'Staff only', sentence: 'Only support staff can open this screen.' },
};

export function noticeOf({ path, guard }: { path: string; guard: Guard }): AdministratorsOnlyProps {
  return NOTICES[path] ?? OTHER_NOTICES[guard];
}

interface GuardedProps {
  path: string;
  guard: Guard;
  children: ReactNode;
}

/** Shows a screen to people who pass its guard; to others only its heading and the notice. */
export function Guarded({ path, guard, children }: GuardedProps) {
  const me = useSession().session?.user_info;
  const isAllowed = me !== undefined && may[guard](me);
  return (
    <NoticeInPlace value={isAllowed ? undefined : <AdministratorsOnly {...noticeOf({ path, guard })} />}>
      {children}
    </NoticeInPlace>
  );
}

/** Wraps a loaded screen in its guard. */
export async function guarded({ path, guard }: Screen, loaded: Loaded): Loaded {
  const screen = await loaded;
  const content = 'element' in screen ? screen.element : <screen.Component />;
  if (guard === undefined) return { element: content };
  return {
    element: (
      <Guarded path={path} guard={guard}>
        {content}
      </Guarded>
    ),
  };
}
