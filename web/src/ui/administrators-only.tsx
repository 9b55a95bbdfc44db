import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useIsUnproven } from './email-needed.tsx';
import { EmptyState } from './states.tsx';

export interface AdministratorsOnlyProps {
  title?: string;
  sentence: string;
  /** Link to a useful screen; the dashboard by default. */
  action?: ReactNode;
}

/** The notice on an administrators' screen for other people. */
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
