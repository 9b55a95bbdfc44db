import { IconLock } from '@tabler/icons-react';
import { Link } from 'react-router';
import { EmptyState } from './states.tsx';

/** What stands in an administrator's screen for everybody else. */
export function AdministratorsOnly({ sentence }: { sentence: string }) {
  return (
    <section className="card" aria-label="Administrators only">
      <EmptyState
        icon={<IconLock size={28} stroke={1.7} />}
        title="Administrators only"
        sentence={sentence}
        action={<Link to="/dashboard">Go to the dashboard</Link>}
      />
    </section>
  );
}
