import { useMediaQuery } from '@mantine/hooks';
import { VIEWS } from '@palisade/contract/desk-list';
import { idSchema } from '@palisade/contract/fields';
import { IconKeyboard, IconMessages } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { rowsOf } from '#api/pages.ts';
import { useDeskCounts } from '#domain/conversation/desk-counts.ts';
import type { ComposerHandle } from '#domain/conversation/message-composer.tsx';
import { RemoteRequestList } from '#domain/session/remote-requests.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { NoticeToggles } from '#ui/notice-toggles.tsx';
import { Page } from '#ui/page.tsx';
import { EmptyState } from '#ui/states.tsx';
import { useKeyboardRoom } from '#ui/use-keyboard-room.ts';
import { ConversationPane } from './conversation-pane.tsx';
import { CustomerPane } from './customer-pane.tsx';
import { useConversationActions, useDeskEvents } from './desk.queries.ts';
import { Inbox, useInbox, WHOLE_INBOX } from './inbox.tsx';
import { useKeys } from './keys.ts';
import { PresenceChoice } from './presence-choice.tsx';
import { useDeskNotices } from './use-desk-notices.ts';
import '#ui/card.css';
import './support.css';

/** Dialogs import Mantine's, so each is loaded when it opens. */
const KeysDialog = lazyPart(async () => (await import('./keys-dialog.tsx')).KeysDialog);

/** Width from which all three panes are side by side, as in support.css. */
const THREE_PANES = '(min-width: 1300px)';

export function SupportPage() {
  return (
    <Page title="Support Desk" sentence="Support staff answer customers here." isForNotice>
      <Desk />
    </Page>
  );
}

type PaneName = 'inbox' | 'conversation' | 'customer';

function Desk() {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState({
    ...WHOLE_INBOX,
    view: VIEWS.find((view) => view === search.get('view')) ?? WHOLE_INBOX.view,
  });
  const [areKeysShown, setAreKeysShown] = useState(false);
  const composer = useRef<ComposerHandle>(null);
  const counts = useDeskCounts(true);
  const inbox = useInbox(chosen);
  const hasThreePanes = useMediaQuery(THREE_PANES, undefined, { getInitialValueInEffect: false }) ?? false;
  useKeyboardRoom();
  useDeskEvents();
  useDeskNotices();

  const openId = idSchema.safeParse(search.get('conversation')).data;
  const pane: PaneName = openId === undefined ? 'inbox' : search.get('pane') === 'customer' ? 'customer' : 'conversation';
  const addressOf = (id: string, part?: 'customer') => `/support?conversation=${id}${part ? `&pane=${part}` : ''}`;
  const go = (address: string) => void navigate(address, { preventScrollReset: true });

  const ids = rowsOf(inbox.data)?.map(({ id }) => id) ?? [];
  const at = openId === undefined ? -1 : ids.indexOf(openId);
  function step(by: 1 | -1) {
    const next = ids[Math.max(0, Math.min(ids.length - 1, at + by))];
    if (next === undefined) return;
    go(addressOf(next));
    document.querySelector<HTMLElement>(`[data-conversation="${next}"]`)?.focus();
  }
  const { close } = useConversationActions(openId ?? '');
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    r: () => composer.current?.focus(),
    e: () => openId !== undefined && close.mutate(),
    '/': () => document.querySelector<HTMLElement>('.desk input[type="search"]')?.focus(),
    '?': () => setAreKeysShown(true),
  });

  return (
    <Page
      title="Support Desk"
      aside={
        <Row gap="3">
          <NoticeToggles isDense />
          <button
            type="button"
            className="icon-button off-phone"
            aria-label="Keys of the support desk"
            aria-haspopup="dialog"
            title="Keys (?)"
            onClick={() => setAreKeysShown(true)}
          >
            <IconKeyboard size={20} stroke={1.7} aria-hidden="true" />
          </button>
          <PresenceChoice />
        </Row>
      }
    >
      <Grid className="card desk" data-pane={pane}>
        <Inbox
          chosen={chosen}
          onChoose={setChosen}
          counts={counts}
          inbox={inbox}
          openId={openId}
          addressOf={(id, message) => `${addressOf(id)}${message === undefined ? '' : `&message=${message}`}`}
        />
        {openId === undefined ? (
          <Grid as="section" className="desk__pane desk__pane--conversation" aria-label="Conversation">
            <div className="desk__nothing center">
              <EmptyState
                icon={IconMessages}
                title="No conversation is open"
                sentence={
                  ids.length > 0
                    ? 'Choose one from the inbox. Press j or k to move, or ? to see all keys.'
                    : 'What a customer writes opens here.'
                }
                action={ids.length > 0 && <Button onClick={() => step(1)}>Open the first one</Button>}
              />
            </div>
          </Grid>
        ) : (
          <ConversationPane
            key={openId}
            id={openId}
            isShown={hasThreePanes || pane === 'conversation'}
            composer={composer}
            onBack={() => go('/support')}
            onCustomer={() => go(addressOf(openId, 'customer'))}
          />
        )}
        {openId !== undefined && (
          <CustomerPane
            conversation_id={openId}
            isShown={hasThreePanes || pane === 'customer'}
            onBack={() => go(addressOf(openId))}
          />
        )}
        {/* Placed below the inbox, because it loads later and must not move the inbox. */}
        <RemoteWaiting count={counts?.remote_waiting ?? 0} />
      </Grid>
      {areKeysShown && <KeysDialog onClose={() => setAreKeysShown(false)} />}
    </Page>
  );
}

/** Customers whose remote session waits for a technician. */
function RemoteWaiting({ count }: { count: number }) {
  return (
    <div role="status" className="span">
      {count > 0 && (
        <div className="desk__remote line-above">
          <RemoteRequestList most={3} />
        </div>
      )}
    </div>
  );
}
