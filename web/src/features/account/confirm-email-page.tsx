import { useState } from 'react';
import { Link } from 'react-router';
import { useIsUnproven } from '#ui/email-needed.tsx';
import { Page } from '#ui/page.tsx';
import { EmailProofForm } from './email-proof.tsx';

/** Where the link of a confirmation mail leads. The code stands behind the #, which browsers send to nobody. */
export function ConfirmEmailPage() {
  const [code] = useState(() => window.location.hash.slice(1));
  const isUnproven = useIsUnproven();
  return (
    <Page title="Confirm your email address" sentence="This shows that the address is yours.">
      {isUnproven ? (
        <EmailProofForm code={code} />
      ) : (
        <p>
          Your email address is confirmed. <Link to="/dashboard">Go to the dashboard</Link>
        </p>
      )}
    </Page>
  );
}
