import { type Revision, undoRevision } from '@palisade/contract/firewall';
import { IconHistory } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { EmptyState } from '#ui/states.tsx';
import { readRulesAnew, revisionsQuery } from './firewall.queries.ts';
import { describeRevision } from './rule-words.ts';
import './rule-fields.css';

/** What was changed lately, and the way back to before it. */
export function HistoryDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { data: revisions, error, refetch } = useQuery(revisionsQuery);
  const [undoing, setUndoing] = useState<string>();
  const [failure, setFailure] = useState('');
  const now = useMinute();

  async function undo(revision: Revision) {
    setUndoing(revision.id);
    setFailure('');
    try {
      await call(undoRevision, { params: { id: revision.id } });
      await readRulesAnew(queries);
    } catch (thrown) {
      setFailure(sentenceOf(thrown));
    } finally {
      setUndoing(undefined);
    }
  }

  return (
    <ModalWindow title="History of your rules" onClose={onClose}>
      <Listed
        what="the history"
        rows={revisions}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState
            icon={<IconHistory size={28} stroke={1.7} />}
            title="Nothing was changed yet"
            sentence="Each change of your rules is listed here, and can be undone."
          />
        }
      >
        {(rows) => (
          <ol className="rule-history" aria-label="Changes, newest first">
            {rows.map((revision, index) => (
              <li key={revision.id}>
                <span>
                  <bdi>{describeRevision(revision)}</bdi>
                  <span className="sub">
                    <Moment iso={revision.created_at} now={now} />
                  </span>
                </span>
                <Button
                  variant="quiet"
                  size="s"
                  loading={undoing === revision.id}
                  aria-label={`${index === 0 ? 'Undo' : 'Back to before'}: ${describeRevision(revision)}`}
                  onClick={() => void undo(revision)}
                >
                  {index === 0 ? 'Undo' : 'Back to before'}
                </Button>
              </li>
            ))}
          </ol>
        )}
      </Listed>
      {failure && (
        <p className="rule-form__failure" role="alert">
          {failure}
        </p>
      )}
    </ModalWindow>
  );
}
