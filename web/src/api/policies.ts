import { may } from '@palisade/contract/may';
import { useSession } from './session.ts';

/** The policy of the desk under a name that no tool takes for a hook of React. */
export const opensDesk = may.useDesk;

/** Whether the signed-in person may do what is an administrator's alone. */
export function useMayAdministrate(): boolean {
  const me = useSession().session?.user_info;
  return me !== undefined && may.administrate(me);
}

/** Whether the signed-in person is of the staff. */
export function useIsStaff(): boolean {
  const me = useSession().session?.user_info;
  return me !== undefined && opensDesk(me);
}
