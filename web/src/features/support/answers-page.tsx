import type { CannedAnswer } from '@palisade/contract/desk';
import { IconMessageBolt, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { EmptyState } from '#ui/states.tsx';
import { cannedQuery } from './desk.queries.ts';
import './answers-page.css';

/** Comes when it is first wanted: most visits only read. */
const AnswerDialog = lazyPart(async () => (await import('./answer-dialog.tsx')).AnswerDialog);

/** Where administrators keep the canned answers. */
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
  const { data, error, refetch } = useQuery(cannedQuery);
  const [open, setOpen] = useState<CannedAnswer | 'new'>();
  return (
    <Card
      title="Replies"
      action={
        <Button
          size="s"
          icon={<IconPlus size={16} stroke={2} aria-hidden="true" />}
          aria-haspopup="dialog"
          onClick={() => setOpen('new')}
        >
          New reply
        </Button>
      }
    >
      <Listed
        loading="Loading the saved replies"
        failed="We couldn’t load the saved replies"
        rows={data}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState
            icon={<IconMessageBolt size={28} stroke={1.7} />}
            title="No saved replies yet"
            sentence="Save an answer that you give often, such as how to start a remote session."
          />
        }
      >
        {(answers) => (
          <ul className="answers">
            {answers.map((answer) => (
              <li key={answer.id}>
                <button type="button" aria-haspopup="dialog" onClick={() => setOpen(answer)}>
                  <code>/{answer.shortcut}</code>
                  <b>{answer.title}</b>
                  <span className="sub">{answer.text}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {open && <AnswerDialog answer={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />}
    </Card>
  );
}
