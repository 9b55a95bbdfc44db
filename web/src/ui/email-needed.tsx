import { IconMail } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import './email-needed.css';

/** Whether the signed-in person has still to confirm their address. */
export function useIsUnproven(): boolean {
  return useSession().session?.email_unproven ?? false;
}

/** Stands next to what is held back until the address is confirmed: what that is, and what to do. Empty for everybody else. */
export function EmailNeeded({ sentence }: { sentence: string }) {
  const isUnproven = useIsUnproven();
  if (!isUnproven) return null;
  return (
    <p className="email-needed">
      <IconMail size={20} stroke={1.7} aria-hidden="true" />
      <span>{sentence} Enter the code from our email at the top of the page.</span>
    </p>
  );
}
