import type { UserInfo } from '@palisade/contract/auth';
import { type CannedAnswer, fillCanned } from '@palisade/contract/desk';
import type { Conversation } from '@palisade/contract/desk-record';
import { may } from '@palisade/contract/may';
import { foldText } from '@palisade/contract/text';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useId, useState } from 'react';
import { useConfig } from '#api/config.ts';
import { readDraft } from '#api/drafts.ts';
import { sayTyping } from '#api/events.ts';
import { isFirstTry } from '#api/outgoing.ts';
import { decidedBy } from '#domain/conversation/chat.ts';
import { type ComposerHandle, MessageComposer } from '#domain/conversation/message-composer.tsx';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { StateFilter } from '#ui/list-filters.tsx';
import { enterMeans, isEscape } from '#ui/pressed.ts';
import { type ConversationActions, cannedQuery, useDeskOutgoing } from './desk.queries.ts';

type Mode = 'answer' | 'note';

interface StaffComposerProps {
  conversation: Conversation;
  me: UserInfo;
  actions: ConversationActions;
  composer: RefObject<ComposerHandle | null>;
}

/** A `/` at the end of the field with the first characters of a shortcut. */
const SHORTCUT = /(?:^|\s)\/([a-z0-9-]{0,32})$/iu;
const SHOWN_MAXIMUM = 6;

/** Writes an answer to the customer, or a note for staff only. */
export function StaffComposer({ conversation, me, actions, composer }: StaffComposerProps) {
  const decided = decidedBy(conversation);
  const mayAnswer = may.answer(me, decided);
  const [wanted, setMode] = useState<Mode>('answer');
  const mode = mayAnswer ? wanted : 'note';
  const { queue, outgoing } = useDeskOutgoing(conversation.id);
  const place = `desk.${conversation.id}`;
  const [draft, setDraft] = useState(() => readDraft(place));
  const canned = useCanned(draft, conversation, me, (text) => composer.current?.write(() => text));
  if (!may.note(me, decided)) return null;
  return (
    <MessageComposer
      ref={composer}
      place={place}
      label={mode === 'note' ? 'Note' : 'Answer'}
      placeholder={mode === 'note' ? 'For colleagues' : '/ for saved replies'}
      isSending={isFirstTry(outgoing)}
      onSend={(written) => queue.add({ ...written, conversation_id: conversation.id, is_note: mode === 'note' })}
      onTyping={() => mode === 'answer' && sayTyping(conversation.id)}
      onDraft={setDraft}
      onKey={canned.press}
      fieldProps={canned.fieldProps}
      tone={mode === 'note' ? 'note' : undefined}
      above={
        <Row wrap={false} gap="2" justify="between" className="staff-composer__above">
          {canned.list}
          {mayAnswer ? (
            <StateFilter
              label="What you write"
              value={mode}
              options={[
                { value: 'answer', label: 'Answer' },
                { value: 'note', label: 'Note' },
              ]}
              onChoose={(chosen) => setMode(chosen ?? 'answer')}
            />
          ) : (
            <p className="sub">This conversation is closed. Reopen it to answer. You can still add a note.</p>
          )}
          {may.startRemoteSession(me, decided) && (
            <Button
              variant="quiet"
              size="s"
              icon={IconDeviceDesktop}
              loading={actions.remote.isPending}
              aria-label="Start a remote session"
              title="Start a remote session"
              onClick={() => actions.remote.mutate()}
            >
              <span className="unseen-phone">Remote session</span>
            </Button>
          )}
        </Row>
      }
    />
  );
}

/** Saved replies whose shortcut starts with, or whose title contains, the typed text. */
function matching(answers: readonly CannedAnswer[], begun: string): CannedAnswer[] {
  const words = foldText(begun);
  return answers
    .filter(({ shortcut, title }) => shortcut.startsWith(words) || (words !== '' && foldText(title).includes(words)))
    .slice(0, SHOWN_MAXIMUM);
}

function useCanned(draft: string, { customer }: Conversation, me: UserInfo, onWrite: (text: string) => void) {
  const id = useId();
  const config = useConfig();
  const { data: answers } = useQuery(cannedQuery);
  const [at, setAt] = useState(0);
  const [dismissed, setDismissed] = useState<string>();
  // Placeholders are filled here, so that the staff sees the text that is sent.
  const names = {
    customer,
    agent: me.username,
    provider: config?.provider_name ?? '',
    support_phone: config?.support.phone ?? '',
  };
  const begun = SHORTCUT.exec(draft)?.[1];
  const found = begun === undefined || draft === dismissed ? [] : matching(answers ?? [], begun);
  const current = Math.min(at, found.length - 1);
  const isOpen = found.length > 0;
  const isMissed =
    begun !== undefined && draft !== dismissed && answers !== undefined && !isOpen && /^\/\S*$/u.test(draft.trim());

  function choose({ text }: CannedAnswer) {
    onWrite(draft.replace(/\/[a-z0-9-]*$/iu, '') + fillCanned(text, names));
    setAt(0);
  }

  function press(event: KeyboardEvent): boolean {
    // Without a match, Enter would send "/he" to the customer.
    if (isMissed && enterMeans(event) === 'send') {
      event.preventDefault();
      return true;
    }
    if (!isOpen) return false;
    const chosen = found[current];
    if (event.key === 'ArrowDown') setAt((current + 1) % found.length);
    else if (event.key === 'ArrowUp') setAt((current - 1 + found.length) % found.length);
    else if (isEscape(event)) setDismissed(draft);
    else if ((enterMeans(event) === 'send' || (event.key === 'Tab' && !event.shiftKey)) && chosen) choose(chosen);
    else return false;
    event.preventDefault();
    return true;
  }

  return {
    press,
    fieldProps: isOpen
      ? { 'aria-controls': id, 'aria-activedescendant': `${id}-${current}`, 'aria-autocomplete': 'list' as const }
      : {},
    list: isMissed ? (
      <p className="sub" role="status">
        {answers.length === 0
          ? 'There are no saved replies yet. An administrator can add them. Send sends your text as it is.'
          : 'No saved reply matches. Send sends your text as it is.'}
      </p>
    ) : (
      isOpen && (
        <Stack id={id} className="canned surface-raised" role="listbox" aria-label="Saved replies">
          {found.map((answer, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and handles the keys
            <div
              key={answer.id}
              id={`${id}-${index}`}
              role="option"
              className="hover pad-xs rounded-s pointer"
              aria-selected={index === current}
              tabIndex={-1}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(answer)}
            >
              <Row as="span" gap="3" rowGap="0" align="stretch">
                <code className="accent mono">/{answer.shortcut}</code>
                <b>{answer.title}</b>
              </Row>
              <span className="canned__preview clamp small muted break">{fillCanned(answer.text, names)}</span>
            </div>
          ))}
        </Stack>
      )
    ),
  };
}
