import { IconVideo } from '@tabler/icons-react';
import { useState } from 'react';
import { useConnection } from '#api/connection.ts';
import { Button } from '#ui/button.tsx';
import { CallSupport, useNoPhoneNotice } from './call-support.tsx';
import { useSendMessage } from './chat.queries.ts';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';
import { TalkDialog } from './talk-dialog.tsx';
import '#ui/card.css';
import './chat.css';

/** The support chat, on its screen and in the window of its own. */
export function ChatPanel() {
  const isOnline = useConnection() !== 'offline';
  const sending = useSendMessage();
  const [isTalking, setIsTalking] = useState(false);
  const { show, notice } = useNoPhoneNotice();
  return (
    <section className="card chat" aria-label="Conversation with support">
      <div className="chat__head">
        <p role="status" className="chat__state" data-tone={isOnline ? 'good' : 'warn'}>
          <span>{isOnline ? 'Online' : 'Offline'}</span>
          <span className="chat__state-of">{isOnline ? 'this page is connected' : 'this page is not connected'}</span>
        </p>
        <div className="chat__ways">
          <CallSupport onUnreachable={show} />
          <Button
            variant="quiet"
            size="s"
            icon={<IconVideo size={16} stroke={1.7} aria-hidden="true" />}
            aria-haspopup="dialog"
            title="Video and live chat"
            onClick={() => setIsTalking(true)}
          >
            <span className="chat__way">Video and live chat</span>
          </Button>
        </div>
      </div>
      {notice}
      <MessageList isSending={sending.isPending} />
      <Composer sending={sending} />
      {isTalking && <TalkDialog onClose={() => setIsTalking(false)} />}
    </section>
  );
}
