import { Page } from '#ui/page.tsx';
import { ChatPanel } from './chat-panel.tsx';

export function ChatPage() {
  return (
    <Page title="Support Chat" sentence="An automatic hint comes at once, and your message is kept for the support team.">
      <ChatPanel />
    </Page>
  );
}
