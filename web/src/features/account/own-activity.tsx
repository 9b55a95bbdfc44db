import { type Activity, exportActivity, listActivity } from '@palisade/contract/audit';
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { call, download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { describeActivity } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Listed } from '#ui/listed.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { type RecordFormat, SaveAs } from '#ui/save-as.tsx';
import { saveFile } from '#ui/save-file.ts';
import { ACTIVITY_KEY } from './account.queries.ts';

const ROWS_AT_ONCE = 8;

const activityQuery = infiniteQueryOptions({
  queryKey: ACTIVITY_KEY,
  queryFn: ({ pageParam, signal }) =>
    call(listActivity, { query: { limit: ROWS_AT_ONCE, ...(pageParam > 0 && { cursor: pageParam }) }, signal }),
  initialPageParam: 0,
  getNextPageParam: (rows) => (rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.seq),
});

const BY: Record<Activity['by'], string> = {
  self: '',
  support: 'by support',
  guardian: 'by another guardian',
  administrator: 'by an administrator',
  server: 'by the server',
};

/** Activity of this person's account, from the audit log. */
export function OwnActivity() {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(activityQuery);
  const entries = data?.pages.flat();
  const now = useMinute();
  const save = useChange({
    mutationFn: (format: RecordFormat) => download(exportActivity, { query: { format } }),
    onSuccess: (file, format) => saveFile(`palisade-activity.${format}`, file),
  });
  return (
    <DialogPart
      title="Your activity"
      action={
        <Row gap="2">
          <SaveAs labels={{ csv: 'Save your activity as CSV', json: 'Save your activity as JSON' }} save={save} />
        </Row>
      }
    >
      <p className="sub">See who did what in your account, and from where. If it wasn’t you, change your password.</p>
      <Refusal error={save.error} />
      <Listed of="your activity" list={{ rows: entries, error, refetch }} empty={null}>
        {(rows) => (
          <Stack as="ol" lines aria-label="Activity">
            {rows.map((entry) => (
              <Row as="li" align="baseline" justify="between" gap="4" rowGap="0" className="pad-line base break" key={entry.seq}>
                <bdi>{describeActivity(entry)}</bdi>
                <span className="small muted">
                  {entry.by !== 'self' && `${BY[entry.by]}, `}
                  <Moment iso={entry.at} now={now} />
                </span>
              </Row>
            ))}
          </Stack>
        )}
      </Listed>
      {hasNextPage && (
        <Button variant="quiet" size="s" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more activity
        </Button>
      )}
    </DialogPart>
  );
}
