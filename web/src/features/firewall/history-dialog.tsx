import { type Revision, undoRevision } from '@palisade/contract/firewall';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { EmptyState } from '#ui/states.tsx';
import { revisionsQuery } from './firewall.queries.ts';
import { describeRevision } from './rule-words.ts';
import './rule-fields.css';

/** Recent changes, each with a button to revert to the state before it. */
export function HistoryDialog({ onClose }: { onClose: () => void }) {
  const { data: revisions, error, refetch } = useQuery(revisionsQuery);
  const undo = useChange({
    of: undoRevision,
    mutationFn: ({ id }: Revision) => call(undoRevision, { params: { id } }),
  });
  const now = useMinute();

  return (
    <ModalWindow title="Rule history" onClose={onClose}>
      <Listed
        of="the history"
        list={{ rows: revisions, error, refetch }}
        empty={
          <EmptyState
            icon={IconHistory}
            title="No changes yet"
            sentence="Changes to your rules appear here. You can undo each one."
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
                  loading={undo.isPending && undo.variables.id === revision.id}
                  aria-label={index === 0 ? `Undo: ${describeRevision(revision)}` : `Restore: ${describeRevision(revision)}`}
                  onClick={() => undo.mutate(revision)}
                >
                  {index === 0 ? 'Undo' : 'Restore'}
                </Button>
              </li>
            ))}
          </ol>
        )}
      </Listed>
      {undo.error && (
        <p className="rule-form__failure" role="alert">
          {sentenceOf(undo.error)}
        </p>
      )}
    </ModalWindow>
  );
}
