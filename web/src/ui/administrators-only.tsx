import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useIsUnproven } from './email-needed.tsx';
import { EmptyState } from './states.tsx';

export interface AdministratorsOnlyProps {
  title?: string;
  sentence: string;
  /** The screen that helps instead; the dashboard where there is none. */
  action?: ReactNode;
}

/** The notice on an administrator's screen for everybody else. */
export function AdministratorsOnly({
  title = 'Administrators only',
  sentence,
  action = <Link to="/dashboard">Go to the dashboard</Link>,
}: AdministratorsOnlyProps) {
  const isUnproven = useIsUnproven();
  const hint = 'If your address is in ADMIN_EMAILS, enter the code we emailed you to become an administrator.';
  return (
    <section className="card" aria-label={title}>
      <EmptyState icon={IconLock} title={title} sentence={isUnproven ? `${sentence} ${hint}` : sentence} action={action} />
    </section>
  );
}
