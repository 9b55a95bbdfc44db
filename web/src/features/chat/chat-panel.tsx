import type { ChatState } from '@palisade/contract/chat-read';
import { useRef, useState } from 'react';
import { isFirstTry } from '#api/outgoing.ts';
import type { ComposerHandle } from '#domain/conversation/message-composer.tsx';
import { useTyping } from '#domain/conversation/use-typing.ts';
import { Typing } from '#ui/conversation-log.tsx';
import { Grid } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { useKeyboardRoom } from '#ui/use-keyboard-room.ts';
import { useNoPhoneNotice } from './call-support.tsx';
import { useChatState, useIsAwaited, useOutgoing } from './chat.queries.ts';
import { ChatComposer } from './chat-composer.tsx';
import { ChatHead } from './chat-head.tsx';
import { MessageList } from './message-list.tsx';
import { Rating } from './rating.tsx';
import { ShareStrip } from './share-strip.tsx';
import '#ui/card.css';
import './chat.css';

/** Dialogs import Mantine's, so each is loaded when it opens. */
const TalkDialog = lazyPart(async () => (await import('./talk-dialog.tsx')).TalkDialog);

/** The support chat, on its screen and in its own window. */
export function ChatPanel() {
  const state = useChatState();
  const isAwaited = useIsAwaited();
  // Once shown it stays: a refetch after a failure must not hide the conversation.
  const [isThere, setIsThere] = useState(!isAwaited);
  if (!isAwaited && !isThere) setIsThere(true);
  const [isTalking, setIsTalking] = useState(false);
  const { show, notice } = useNoPhoneNotice();
  const composer = useRef<ComposerHandle>(null);
  useKeyboardRoom();
  return (
    <Grid as="section" className="card chat" aria-label="Conversation with support" data-awaited={isThere ? undefined : ''}>
      {!isThere && (
        <div className="chat__awaited" aria-hidden="true">
          <LoadingRows label="Loading the conversation" />
        </div>
      )}
      <ChatHead state={state} onUnreachable={show} onTalk={() => setIsTalking(true)} />
      <div>
        {notice}
        <ShareStrip />
      </div>
      <MessageList onEdit={(message) => composer.current?.add(message)} />
      <div className="shrink">
        <WhoTypes state={state} />
        {state?.rating && <Rating key={state.last_seq} given={state.rating.given} />}
        <ChatComposer composer={composer} />
      </div>
      {isTalking && <TalkDialog onClose={() => setIsTalking(false)} />}
    </Grid>
  );
}

/** Shows that support is typing, or that a message is being sent. */
function WhoTypes({ state }: { state: ChatState | undefined }) {
  const { outgoing } = useOutgoing();
  const [first] = useTyping(({ side, conversation_id }) => side === 'support' && conversation_id === state?.conversation_id);
  if (first) return <Typing who={`${first.username ?? state?.agent ?? 'Support'} is typing…`} />;
  return isFirstTry(outgoing) && <Typing who="Typing…" />;
}
