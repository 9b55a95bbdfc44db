import type { UserInfo } from '@palisade/contract/auth';
import { deskTranscript, TAGS_MAXIMUM } from '@palisade/contract/desk';
import { TAG_LENGTH_MAXIMUM } from '@palisade/contract/desk-list';
import type { Conversation } from '@palisade/contract/desk-record';
import { may } from '@palisade/contract/may';
import { IconDownload, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { download } from '#api/call.ts';
import { decidedBy } from '#domain/conversation/chat.ts';
import { Button } from '#ui/button.tsx';
import { Form } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { ChoiceFilter } from '#ui/list-filters.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { saveFile } from '#ui/save-file.ts';
import { type ConversationActions, teamQuery } from './desk.queries.ts';
import { PRESENCE_LABELS, PRIORITIES, SNOOZES } from './desk-words.ts';

const NOBODY = 'nobody';

interface BarProps {
  conversation: Conversation;
  me: UserInfo;
  actions: ConversationActions;
}

/** The main action for the head of a conversation. */
export function nextOf(me: UserInfo, conversation: Conversation): 'claim' | 'reopen' | 'close' | undefined {
  const decided = decidedBy(conversation);
  return (['claim', 'reopen', 'close'] as const).find((action) => may[action](me, decided));
}

/** Less frequent actions on a conversation, shown on request. */
export function ConversationBar({ conversation, me, actions }: BarProps) {
  const { data: team } = useQuery(teamQuery);
  const [downloadError, setDownloadError] = useState<unknown>();
  const { id, customer, assignee, priority } = conversation;
  const decided = decidedBy(conversation);
  const colleagues = (team ?? [])
    .filter(({ id }) => id !== assignee?.id && id !== conversation.user_id)
    .map(
      ({ id, username, presence }) =>
        [id, `${id === me.id ? 'Me' : username} (${PRESENCE_LABELS[presence].toLowerCase()})`] as const,
    );

  function saveTranscript() {
    download(deskTranscript, { params: { id } }).then(
      (content) => saveFile(`conversation-${customer}.txt`, content),
      (error: unknown) => setDownloadError(error),
    );
  }

  return (
    <Row gap="1" className="talk-bar pad-s line-below">
      {may.assign(me, decided) && (
        <ChoiceFilter
          label="Transfer"
          none="Transfer to…"
          value={undefined}
          options={assignee ? [...colleagues, [NOBODY, 'Back to all']] : colleagues}
          onChoose={(id) => id !== undefined && actions.assign.mutate(id === NOBODY ? null : id)}
        />
      )}
      {may.snooze(me, decided) && (
        <ChoiceFilter
          label="Snooze"
          none="Snooze…"
          value={undefined}
          options={SNOOZES.map(({ key, label }) => [key, label] as const)}
          onChoose={(chosen) => {
            const snooze = SNOOZES.find(({ key }) => key === chosen);
            if (snooze) actions.snooze.mutate(new Date(snooze.until(Date.now())).toISOString());
          }}
        />
      )}
      {may.sort(me, decided) && (
        <ChoiceFilter
          label="Priority of the conversation"
          none="Priority"
          value={priority === 'normal' ? undefined : priority}
          options={PRIORITIES.filter(([known]) => known !== 'normal')}
          onChoose={(chosen) => actions.sort.mutate({ priority: chosen ?? 'normal' })}
        />
      )}
      {may.sort(me, decided) && (
        <Tags tags={conversation.tags} isBusy={actions.sort.isPending} onChange={(tags) => actions.sort.mutate({ tags })} />
      )}
      <Button variant="quiet" size="s" icon={IconDownload} onClick={saveTranscript}>
        Download the transcript
      </Button>
      {may.close(me, decided) && nextOf(me, conversation) !== 'close' && (
        <Button variant="quiet" size="s" loading={actions.close.isPending} onClick={() => actions.close.mutate()}>
          Close
        </Button>
      )}
      <Refusal error={downloadError} />
    </Row>
  );
}

interface TagsProps {
  tags: readonly string[];
  isBusy: boolean;
  onChange: (tags: string[]) => void;
}

function Tags({ tags, isBusy, onChange }: TagsProps) {
  const [typed, setTyped] = useState('');

  function add() {
    const tag = typed.trim().toLowerCase();
    if (tag !== '' && !tags.includes(tag)) onChange([...tags, tag]);
    setTyped('');
  }

  return (
    <Row as="fieldset" gap="1" className="tags" aria-label="Tags" aria-busy={isBusy}>
      {tags.map((tag) => (
        <span key={tag} className="tag badge" data-tone="plain">
          {tag}
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove the tag ${tag}`}
            onClick={() => onChange(tags.filter((other) => other !== tag))}
          >
            <IconX size={14} stroke={2} aria-hidden="true" />
          </button>
        </span>
      ))}
      {tags.length < TAGS_MAXIMUM && (
        <Form error={null} busy={isBusy} onSubmit={add}>
          <input
            className="field tiny"
            aria-label="Add a tag"
            placeholder="Add a tag"
            maxLength={TAG_LENGTH_MAXIMUM}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        </Form>
      )}
    </Row>
  );
}
