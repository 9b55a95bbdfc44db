import { Grid } from '#ui/layout.tsx';
import { Page } from '#ui/page.tsx';
import { ChatAside } from './chat-aside.tsx';
import { ChatPanel } from './chat-panel.tsx';

export function ChatPage() {
  return (
    <Page title="Support Chat" sentence="Tell us what happened. You’ll get an instant tip; our team will read it.">
      <Grid columns="side" tablet="stack" gap="4" align="start" className="chat-columns">
        <ChatPanel />
        <ChatAside />
      </Grid>
    </Page>
  );
}
