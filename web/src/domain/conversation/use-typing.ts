import { TYPING_HOLDS } from '@palisade/contract/chat';
import type { LiveEvent } from '@palisade/contract/events';
import { useEffect, useRef, useState } from 'react';
import { onEvent } from '#api/events.ts';

type Typing = Extract<LiveEvent, { kind: 'chat_typing' }>;

/** People who are typing in this conversation, each until the notice expires or the message arrives. */
export function useTyping(isMeant: (event: Typing) => boolean): readonly Typing[] {
  const [typing, setTyping] = useState<readonly Typing[]>([]);
  const meant = useRef(isMeant);
  meant.current = isMeant;
  useEffect(() => {
    const timers = new Map<string, ReturnType<typeof setTimeout>>();
    const nameOf = ({ side, user_id }: Typing) => `${side} ${user_id ?? ''}`;
    const drop = (isOver: (one: Typing) => boolean) =>
      setTyping((all) => (all.some(isOver) ? all.filter((one) => !isOver(one)) : all));
    const stops = [
      onEvent('chat_typing', (event) => {
        if (!meant.current(event)) return;
        const name = nameOf(event);
        clearTimeout(timers.get(name));
        timers.set(
          name,
          setTimeout(() => drop((one) => nameOf(one) === name), TYPING_HOLDS),
        );
        setTyping((all) => [...all.filter((one) => nameOf(one) !== name), event]);
      }),
      onEvent('chat_message', ({ message }) => drop(({ side }) => side === message.sender)),
      onEvent('desk_message', ({ message }) =>
        drop(({ side, user_id }) => side === message.sender && (side === 'user' || user_id === message.author_id)),
      ),
    ];
    return () => {
      for (const stop of stops) stop();
      for (const timer of timers.values()) clearTimeout(timer);
    };
  }, []);
  return typing;
}
