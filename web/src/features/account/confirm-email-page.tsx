import { IconShieldCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { ScreenLink } from '#ui/button-link.tsx';
import { useIsUnproven } from '#ui/email-needed.tsx';
import { Lead } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { EmailProofForm } from './email-proof.tsx';

/** Target of the link in a confirmation email. The code is in the fragment, which browsers do not send to the server. */
export function ConfirmEmailPage() {
  const [code] = useState(() => window.location.hash.slice(1));
  const isUnproven = useIsUnproven();
  return (
    <Page title="Confirm your email address" sentence="This shows that the address is yours.">
      {isUnproven ? (
        <EmailProofForm code={code} />
      ) : (
        <Lead
          tone="good"
          icon={IconShieldCheck}
          title="Your email address is confirmed."
          sentence="There is nothing left to do here."
          action={<ScreenLink to="/dashboard">Go to the dashboard</ScreenLink>}
        />
      )}
    </Page>
  );
}
