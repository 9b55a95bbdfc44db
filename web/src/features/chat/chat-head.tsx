import type { ChatState } from '@palisade/contract/chat-read';
import { describeSpan } from '@palisade/contract/intl';
import { IconUserHeart, IconVideo } from '@tabler/icons-react';
import { useConnection } from '#api/connection.ts';
import { Button } from '#ui/button.tsx';
import { describeNext, useMinute } from '#ui/moment.tsx';
import { NoticeToggles } from '#ui/notice-toggles.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { CallSupport } from './call-support.tsx';
import { useAskPerson } from './chat.queries.ts';

/** Presence of support and what to expect. The connection of this page is shown separately. */
function describeStaff(
  { staff, agent, wants_person, response_s, status }: ChatState,
  now: number,
): { here: boolean; words: string } {
  const usual = response_s === null ? [] : [`First answers took ${describeSpan(response_s)} in the last 7 days.`];
  if (agent !== null && status === 'open')
    return {
      here: staff.is_here,
      words: staff.is_here ? `${agent} answers you.` : `${agent} answers you, but is away just now.`,
    };
  if (staff.is_here) {
    const is_here = wants_person ? 'You asked for a person. Support is here.' : 'Support is here.';
    return { here: true, words: [is_here, ...usual].join(' ') };
  }
  if (!staff.is_open && staff.opens_at !== null)
    return {
      here: false,
      words: `Support is back ${describeNext(staff.opens_at, now)}. Leave a message; we’ll email you when we answer.`,
    };
  return {
    here: false,
    words: ['We’re away. We’ll answer within a day.', ...usual].join(' '),
  };
}

interface ChatHeadProps {
  state: ChatState | undefined;
  onUnreachable: () => void;
  onTalk: () => void;
}

/** Above the conversation: connection, presence of support, and ways to reach a person. */
export function ChatHead({ state, onUnreachable, onTalk }: ChatHeadProps) {
  const isOnline = useConnection() !== 'offline';
  const now = useMinute();
  const ask = useAskPerson();
  const staff = state && describeStaff(state, now);
  return (
    <div className="chat__head">
      <div className="chat__states">
        <p role="status" className="chat__state" data-tone={isOnline ? 'good' : 'warn'}>
          <span>{isOnline ? 'Online' : 'Offline'}</span>
          <span className="chat__state-of">{isOnline ? 'this page is connected' : 'this page is not connected'}</span>
        </p>
        {staff && (
          <p role="status" aria-label="Support" className="chat__state" data-tone={staff.here ? 'good' : 'away'}>
            <span className="chat__state-of">{staff.words}</span>
          </p>
        )}
      </div>
      <NoticeToggles />
      <div className="chat__ways">
        <Button
          variant={state?.wants_person ? 'quiet' : 'primary'}
          size="s"
          icon={IconUserHeart}
          loading={ask.isPending}
          disabled={state?.wants_person ?? false}
          onClick={() => ask.mutate()}
        >
          {state?.wants_person ? 'A person is asked for' : 'Talk to a person'}
        </Button>
        <CallSupport onUnreachable={onUnreachable} />
        <Button variant="quiet" size="s" icon={IconVideo} aria-haspopup="dialog" title="Video and live chat" onClick={onTalk}>
          <span className="chat__way">Video and live chat</span>
        </Button>
      </div>
      <Refusal error={ask.error} />
    </div>
  );
}
