import { may } from '@palisade/contract/may';
import { useSession } from './session.ts';

/** The policy of the desk under a name that no tool takes for a hook of React. */
export const opensDesk = may.useDesk;

/** Whether who is signed in administers the installation. */
export function useAdministers(): boolean {
  const { session } = useSession();
  return session !== undefined && may.administrate(session.user_info);
}
