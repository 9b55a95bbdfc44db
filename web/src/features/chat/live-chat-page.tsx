import { type ReactNode, useEffect } from 'react';
import { Link } from 'react-router';
import { useConfig } from '#api/config.ts';
import { useUnread } from '#domain/conversation/chat.ts';
import { Brand } from '#ui/brand.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { useMessageNotices } from '#ui/use-message-notices.ts';
import { ZoneNote } from '#ui/zone-note.tsx';
import { ChatPanel } from './chat-panel.tsx';
import './live-chat-page.css';

/** The support chat in its own window, for a provider without another live-chat page. */
export function LiveChatPage({ notice }: { notice?: ReactNode }) {
  const provider = useConfig()?.provider_name;
  const unread = useUnread();
  useMessageNotices();
  useEffect(() => {
    document.title = unread > 0 ? `(${unread}) Live chat · Palisade` : 'Live chat · Palisade';
  }, [unread]);
  return (
    <Stack className="live-chat">
      <Row as="header" gap="4" justify="between" wrap={false} className="pad-m line-below base">
        <Brand provider={provider} />
        <Link to="/dashboard">Main Dashboard</Link>
      </Row>
      {notice}
      <ZoneNote />
      <Stack as="main" gap="3" className="pad-m">
        <h1 tabIndex={-1}>Support Chat</h1>
        <ChatPanel />
      </Stack>
    </Stack>
  );
}
