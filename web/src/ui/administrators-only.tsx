import { IconLock } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useIsUnproven } from './email-needed.tsx';
import { EmptyState } from './states.tsx';

/** The notice on an administrator's screen for everybody else. */
export function AdministratorsOnly({ title = 'Administrators only', sentence }: { title?: string; sentence: string }) {
  const isUnproven = useIsUnproven();
  const hint = 'If your address is in ADMIN_EMAILS, enter the code we emailed you to become an administrator.';
  return (
    <section className="card" aria-label={title}>
      <EmptyState
        icon={<IconLock size={28} stroke={1.7} />}
        title={title}
        sentence={isUnproven ? `${sentence} ${hint}` : sentence}
        action={<Link to="/dashboard">Go to the dashboard</Link>}
      />
    </section>
  );
}
