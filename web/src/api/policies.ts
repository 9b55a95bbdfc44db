import { may } from '@palisade/contract/may';
import { useSession } from './session.ts';

/** `may.useDesk` under a name that linters do not mistake for a React hook. */
export const opensDesk = may.useDesk;

/** Whether the signed-in person may administrate. */
export function useMayAdministrate(): boolean {
  const me = useSession().session?.user_info;
  return me !== undefined && may.administrate(me);
}

/** Whether the signed-in person is staff. */
export function useIsStaff(): boolean {
  const me = useSession().session?.user_info;
  return me !== undefined && opensDesk(me);
}
