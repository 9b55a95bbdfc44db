import { Page } from '#ui/page.tsx';
import { ChatAside } from './chat-aside.tsx';
import { ChatPanel } from './chat-panel.tsx';

export function ChatPage() {
  return (
    <Page title="Support Chat" sentence="Write what happened. An automatic hint comes at once, and a person of support reads it.">
      <div className="chat-columns">
        <ChatPanel />
        <ChatAside />
      </div>
    </Page>
  );
}
