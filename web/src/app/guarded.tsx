import { may } from '@palisade/contract/may';
import type { ReactNode } from 'react';
import { useSession } from '#api/session.ts';
import { AdministratorsOnly } from '#ui/administrators-only.tsx';
import { NoticeInPlace } from '#ui/page.tsx';
import type { Guard } from './screens.tsx';

/** A screen for the people of its guard; for everybody else its heading with the notice below, and none of its content. */
export function Guarded({ guard: { policy, notice }, children }: { guard: Guard; children: ReactNode }) {
  const me = useSession().session?.user_info;
  const isAllowed = me !== undefined && may[policy](me);
  return <NoticeInPlace value={isAllowed ? undefined : <AdministratorsOnly {...notice} />}>{children}</NoticeInPlace>;
}
