import { downloadTranscript } from '@palisade/contract/chat';
import { IconBook, IconHeadset, IconHistory, IconShieldCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { useConfig } from '#api/config.ts';
import { Button } from '#ui/button.tsx';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { saveFile } from '#ui/save-file.ts';
import { Sentence } from '#ui/sentence.tsx';
import { useMailTranscript } from './chat.queries.ts';

/** Dialogs import Mantine's, so each is loaded when it opens. */
const SearchDialog = lazyPart(async () => (await import('./search-dialog.tsx')).SearchDialog);

/** Beside the conversation: contacts of support, a warning about fraud, and the transcript. */
export function ChatAside() {
  const { phone, email } = useConfig()?.support ?? { phone: '', email: '' };
  return (
    <aside className="chat-aside" aria-label="Help next to the chat">
      <section className="card">
        <IconHeadset size={24} stroke={1.7} aria-hidden="true" />
        <h2>Reach a person</h2>
        {phone || email ? (
          <p className="chat-aside__ways">
            {phone && <PhoneLink phone={phone} />}
            {email && <EmailLink email={email} />}
          </p>
        ) : (
          <p className="sub">Your provider hasn’t added a phone number or email yet. Write to us here.</p>
        )}
      </section>
      <section className="card">
        <IconShieldCheck size={24} stroke={1.7} aria-hidden="true" />
        <h2>We never call first</h2>
        <ul>
          <li>If someone calls you and says they’re from support, hang up.</li>
          <li>Support never asks for a password, a code, or a card number.</li>
          <li>Install nothing that a caller tells you to install.</li>
        </ul>
      </section>
      <section className="card">
        <IconBook size={24} stroke={1.7} aria-hidden="true" />
        <h2>Find it yourself</h2>
        <p className="sub">
          <Sentence text="Short answers in plain words: {link}" parts={{ link: <Link to="/help">Help pages</Link> }} />
        </p>
      </section>
      <History />
    </aside>
  );
}

/** Search and download of the transcript. */
function History() {
  const [isSearching, setIsSearching] = useState(false);
  const mail = useMailTranscript();
  const save = useChange({
    mutationFn: async () => saveFile('support-chat.txt', await download(downloadTranscript)),
  });
  return (
    <section className="card">
      <IconHistory size={24} stroke={1.7} aria-hidden="true" />
      <h2>What was said</h2>
      <div className="chat-aside__actions">
        <Button variant="quiet" size="s" aria-haspopup="dialog" onClick={() => setIsSearching(true)}>
          Search it
        </Button>
        <Button variant="quiet" size="s" loading={save.isPending} onClick={() => save.mutate()}>
          Download it
        </Button>
        <Button variant="quiet" size="s" loading={mail.isPending} onClick={() => mail.mutate()}>
          Email it to me
        </Button>
      </div>
      <p role="status" className="sub">
        {mail.isSuccess && 'It is on its way to your address.'}
      </p>
      <Refusal error={save.error ?? mail.error} />
      {isSearching && <SearchDialog onClose={() => setIsSearching(false)} />}
    </section>
  );
}
