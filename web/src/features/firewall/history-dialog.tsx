import { type Revision, undoRevision } from '@palisade/contract/firewall';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState } from '#ui/states.tsx';
import { revisionsQuery } from './firewall.queries.ts';
import { describeRevision } from './rule-words.ts';

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
          <Stack as="ol" lines aria-label="Changes, newest first">
            {rows.map((revision, index) => (
              <Row key={revision.id} as="li" gap="3" justify="between" wrap={false} className="pad-line base">
                <span className="break">
                  <bdi>{describeRevision(revision)}</bdi>
                  <span className="sub small block">
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
              </Row>
            ))}
          </Stack>
        )}
      </Listed>
      <Refusal error={undo.error} />
    </ModalWindow>
  );
}
