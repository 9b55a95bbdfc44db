import type { ChatState } from '@palisade/contract/chat-read';
import { IconUserHeart, IconVideo } from '@tabler/icons-react';
import { useConnection } from '#api/connection.ts';
import { describeAvailability, waitingSince } from '#domain/conversation/availability.ts';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { describeMoment, useMinute } from '#ui/moment.tsx';
import { NoticeToggles } from '#ui/notice-toggles.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { CallSupport } from './call-support.tsx';
import { useAskPerson, useMessages } from './chat.queries.ts';

const TONES = { here: 'accent', away: 'ink', offline: 'amber' } as const;

interface ChatHeadProps {
  state: ChatState | undefined;
  onUnreachable: () => void;
  onTalk: () => void;
}

/** Above the conversation: whether support answers now, and ways to reach a person. */
export function ChatHead({ state, onUnreachable, onTalk }: ChatHeadProps) {
  const isOnline = useConnection() !== 'offline';
  const now = useMinute();
  const ask = useAskPerson();
  const { messages = [] } = useMessages();
  const waiting = state && isOnline ? waitingSince(messages, state) : undefined;
  const support = state && describeAvailability(state, now, isOnline);
  return (
    <Grid columns="tail" phone="stack" gap="2" align="center" className="pad-m line-below">
      {support && (
        <p role="status" aria-label="Support" className={`base medium ${waiting === undefined ? TONES[support.tone] : 'ink'}`}>
          {waiting === undefined || support.tone !== 'here' ? support.sentence : 'A person will answer here.'}
          {waiting !== undefined && ` You asked ${describeMoment(waiting, now)}.`}
        </p>
      )}
      <Row gap="2" rowGap="0" justify="between">
        <span role="status">
          <Badge tone={isOnline ? 'plain' : 'attention'}>{isOnline ? 'You’re online' : 'You’re offline'}</Badge>
        </span>
        <NoticeToggles />
      </Row>
      <Row gap="2" className="span chat__ways">
        <Button
          variant={state?.wants_person || waiting !== undefined ? 'quiet' : 'primary'}
          size="s"
          icon={IconUserHeart}
          loading={ask.isPending}
          disabled={state?.wants_person ?? false}
          onClick={() => ask.mutate()}
        >
          {state?.wants_person ? 'We’ve told the team' : 'Talk to a person'}
        </Button>
        <CallSupport onUnreachable={onUnreachable} />
        <Button
          variant="quiet"
          size="s"
          icon={IconVideo}
          aria-haspopup="dialog"
          title="Video and live chat"
          aria-label="Video and live chat"
          onClick={onTalk}
        >
          <span className="off-phone">Video and live chat</span>
          <span className="on-phone">Video</span>
        </Button>
      </Row>
      <Refusal error={ask.error} />
    </Grid>
  );
}
