import { IconMail } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import './email-needed.css';

/** Whether the signed-in person has still to confirm their address. */
export function useIsUnproven(): boolean {
  return useSession().session?.email_unproven ?? false;
}

/** Stands at what is held back until the address is confirmed: what that is, and what to do. Empty for everybody else. */
export function EmailNeeded({ what }: { what: string }) {
  const isUnproven = useIsUnproven();
  if (!isUnproven) return null;
  return (
    <p className="email-needed">
      <IconMail size={20} stroke={1.7} aria-hidden="true" />
      <span>
        {what} once you have confirmed your email address: enter the code of our mail at the top of the page. Until then the
        address could be anybody’s.
      </span>
    </p>
  );
}
