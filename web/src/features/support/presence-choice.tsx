import { ABSENT_AFTER, type Presence } from '@palisade/contract/desk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '#api/session.ts';
import { ChoiceFilter } from '#ui/list-filters.tsx';
import { teamQuery, useSetPresence } from './desk.queries.ts';
import { PRESENCE_LABELS } from './desk-words.ts';

const MOVES = ['keydown', 'pointermove', 'pointerdown', 'wheel', 'touchstart'] as const;

/** Says that somebody is away when they have done nothing for a while, and that they are back when they have; never against what they have said themselves. */
function useAbsence(presence: Presence | undefined, onChange: (presence: Presence) => void): void {
  const current = useRef({ presence, onChange });
  current.current = { presence, onChange };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isAbsent = false;
    const leave = () => {
      if (current.current.presence !== 'here') return;
      isAbsent = true;
      current.current.onChange('away');
    };
    const move = () => {
      clearTimeout(timer);
      timer = setTimeout(leave, ABSENT_AFTER);
      if (!isAbsent) return;
      isAbsent = false;
      if (current.current.presence === 'away') current.current.onChange('here');
    };
    move();
    for (const kind of MOVES) window.addEventListener(kind, move, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const kind of MOVES) window.removeEventListener(kind, move);
    };
  }, []);
}

/** Whether one is there for customers. */
export function PresenceChoice() {
  const me = useSession().session?.user_info.id;
  const { data: team } = useQuery(teamQuery);
  const { mutate } = useSetPresence();
  const presence = team?.find(({ id }) => id === me)?.presence;
  useAbsence(presence, (noticed) => mutate({ presence: noticed, by_hand: false }));
  return (
    <span className="presence" data-presence={presence}>
      <ChoiceFilter
        label="Your presence"
        none={PRESENCE_LABELS.offline}
        value={presence === 'offline' ? undefined : presence}
        options={[
          ['here', PRESENCE_LABELS.here],
          ['away', PRESENCE_LABELS.away],
        ]}
        onChoose={(chosen) => mutate({ presence: chosen ?? 'offline', by_hand: true })}
      />
    </span>
  );
}
