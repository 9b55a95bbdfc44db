import { Page } from '#ui/page.tsx';
import { ChatAside } from './chat-aside.tsx';
import { ChatPanel } from './chat-panel.tsx';

export function ChatPage() {
  return (
    <Page
      title="Support Chat"
      sentence="An automatic hint comes at once. Nobody at support reads this chat yet: call or send an email to reach a person."
    >
      <div className="chat-columns">
        <ChatPanel />
        <ChatAside />
      </div>
    </Page>
  );
}
