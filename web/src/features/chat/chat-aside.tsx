import { downloadTranscript } from '@palisade/contract/chat';
import { IconBook, IconHeadset, IconHistory, IconShieldCheck, type TablerIcon } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { useConfig, useIsMailed } from '#api/config.ts';
import { messagesQuery } from '#domain/conversation/chat.ts';
import { Button } from '#ui/button.tsx';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { saveFile } from '#ui/save-file.ts';
import { Sentence } from '#ui/sentence.tsx';
import { useMailTranscript } from './chat.queries.ts';

/** Dialogs import Mantine's, so each is loaded when it opens. */
const SearchDialog = lazyPart(async () => (await import('./search-dialog.tsx')).SearchDialog);

/** Beside the conversation: support contacts, a warning about fraud, and the transcript. */
export function ChatAside() {
  const { phone, email } = useConfig()?.support ?? { phone: '', email: '' };
  const hasMessages = useInfiniteQuery(messagesQuery).data?.pages.some((page) => page.length > 0) ?? false;
  return (
    <Grid as="aside" columns="fit-m" gap="4" aria-label="Help next to the chat">
      {(phone || email) && (
        <AsidePart icon={IconHeadset} title="Reach a person">
          <Row as="p" gap="3" rowGap="0">
            {phone && <PhoneLink phone={phone} />}
            {email && <EmailLink email={email} />}
          </Row>
        </AsidePart>
      )}
      <AsidePart icon={IconShieldCheck} title="We never call first">
        <Stack as="ul" gap="2" className="base muted">
          <li>If someone calls you and says they’re from support, hang up.</li>
          <li>Support never asks for a password, a sign-in code, or a card number.</li>
          <li>Install nothing that a caller tells you to install.</li>
        </Stack>
      </AsidePart>
      <AsidePart icon={IconBook} title="Find it yourself">
        <p className="sub">
          <Sentence text="Short answers in plain words: {link}" parts={{ link: <Link to="/help">Help pages</Link> }} />
        </p>
      </AsidePart>
      {hasMessages && <History />}
    </Grid>
  );
}

function AsidePart({ icon: Icon, title, children }: { icon: TablerIcon; title: string; children: ReactNode }) {
  return (
    <Stack as="section" gap="2" className="card">
      <Row gap="2" wrap={false}>
        <Icon size={24} stroke={1.7} className="accent fixed" aria-hidden="true" />
        <h2>{title}</h2>
      </Row>
      {children}
    </Stack>
  );
}

/** Search and download of the transcript, once there is one. */
function History() {
  const [isSearching, setIsSearching] = useState(false);
  const mail = useMailTranscript();
  const isMailed = useIsMailed();
  const save = useChange({
    mutationFn: async () => saveFile('support-chat.txt', await download(downloadTranscript)),
  });
  return (
    <AsidePart icon={IconHistory} title="Your messages">
      <Row gap="2">
        <Button variant="quiet" size="s" aria-haspopup="dialog" onClick={() => setIsSearching(true)}>
          Search messages
        </Button>
        <Button variant="quiet" size="s" loading={save.isPending} onClick={() => save.mutate()}>
          Download messages
        </Button>
        {isMailed && (
          <Button variant="quiet" size="s" loading={mail.isPending} onClick={() => mail.mutate()}>
            Email me a copy
          </Button>
        )}
      </Row>
      <p role="status" className="sub">
        {mail.isSuccess && 'The copy is on its way to your email.'}
      </p>
      <Refusal error={save.error ?? mail.error} />
      {isSearching && <SearchDialog onClose={() => setIsSearching(false)} />}
    </AsidePart>
  );
}
