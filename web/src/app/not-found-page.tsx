import { IconCompass } from '@tabler/icons-react';
import { Link } from 'react-router';
import '#ui/card.css';
import { Page } from '#ui/page.tsx';
import { EmptyState } from '#ui/states.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <div className="card">
        <EmptyState
          icon={IconCompass}
          title="There is nothing at this address"
          sentence="The link may be old, or a letter of the address may be wrong."
          action={<Link to="/dashboard">Go to the dashboard</Link>}
        />
      </div>
    </Page>
  );
}
