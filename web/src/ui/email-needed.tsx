import { IconMail } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import './email-needed.css';

/** Whether the signed-in person must still confirm their address. */
export function useIsUnproven(): boolean {
  return useSession().session?.email_unproven ?? false;
}

/** A notice next to an action that requires a confirmed address. Renders nothing for others. */
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
