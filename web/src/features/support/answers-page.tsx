import type { CannedAnswer } from '@palisade/contract/desk';
import { IconMessageBolt, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useMayAdministrate } from '#api/policies.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { Page } from '#ui/page.tsx';
import { useList } from '#ui/searched-pages.tsx';
import { EmptyState } from '#ui/states.tsx';
import { cannedQuery } from './desk.queries.ts';

/** Loaded on demand, because most visits only read. */
const AnswerDialog = lazyPart(async () => (await import('./answer-dialog.tsx')).AnswerDialog);

/** The screen on which technicians read saved replies, and administrators manage them. */
export function AnswersPage() {
  return (
    <Page
      title="Saved replies"
      sentence="Type / and a shortcut in an answer to use a saved reply."
      aside={
        <ScreenLink to="/support" variant="quiet" size="s">
          Open the desk
        </ScreenLink>
      }
    >
      <Answers />
    </Page>
  );
}

function Answers() {
  const list = useList(cannedQuery);
  const mayChange = useMayAdministrate();
  const [open, setOpen] = useState<CannedAnswer | 'new'>();
  return (
    <>
      <ListCard
        title="Replies"
        of="the saved replies"
        list={list}
        action={
          mayChange && (
            <Button size="s" icon={IconPlus} stroke={2} aria-haspopup="dialog" onClick={() => setOpen('new')}>
              New reply
            </Button>
          )
        }
        empty={
          <EmptyState
            icon={IconMessageBolt}
            drawing={<Drawing of="sheets" />}
            title="No saved replies yet"
            sentence={
              mayChange
                ? 'Save an answer that you give often, such as how to start a remote session.'
                : 'Ask an administrator to save answers that you give often. Type / in a conversation to use one.'
            }
          />
        }
      >
        {(answers) => (
          <>
            {!mayChange && <p className="sub">Only administrators can change these.</p>}
            <Stack as="ul" lines>
              {answers.map((answer) => (
                <li key={answer.id}>
                  <AnswerRow answer={answer} onOpen={mayChange ? () => setOpen(answer) : undefined} />
                </li>
              ))}
            </Stack>
          </>
        )}
      </ListCard>
      {open && <AnswerDialog answer={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

interface AnswerRowProps {
  answer: CannedAnswer;
  /** Absent for people who may only read it. */
  onOpen: (() => void) | undefined;
}

function AnswerRow({ answer: { shortcut, title, text }, onOpen }: AnswerRowProps) {
  const row = { columns: 'term', phone: 'stack', gap: '4', rowGap: '0' } as const;
  const words = (
    <>
      <code className="accent mono small bold break">/{shortcut}</code>
      <Stack as="span" gap="0">
        <b className="base medium">{title}</b>
        <span className={`base muted break ${onOpen ? 'clamp' : ''}`}>{text}</span>
      </Stack>
    </>
  );
  if (!onOpen)
    return (
      <Grid {...row} className="full pad-row">
        {words}
      </Grid>
    );
  return (
    <Grid as="button" type="button" {...row} className="answer bare hover full pad-row" aria-haspopup="dialog" onClick={onOpen}>
      {words}
    </Grid>
  );
}
