import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { describeActivity } from '#domain/activity/activity-words.ts';
import { Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import type { sessionAuditQuery } from './joined.queries.ts';
import type { overseenAuditQuery } from './overseen.queries.ts';

/** Audit entries of a session, oldest first. */
export function RecordedList({ query }: { query: ReturnType<typeof sessionAuditQuery> | ReturnType<typeof overseenAuditQuery> }) {
  const { data: entries, error, refetch } = useQuery(query);
  const now = useMinute();
  if (error && !entries)
    return <ErrorNotice title="The record could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />;
  if (!entries) return <LoadingRows label="Loading the record" />;
  if (entries.length === 0) return <p className="sub">Nothing was recorded of this session.</p>;
  return (
    <Stack as="ol" lines aria-label="What was recorded">
      {entries.map((entry) => (
        <Row as="li" gap="3" rowGap="0" align="stretch" justify="between" className="pad-line base" key={entry.seq}>
          <bdi>{describeActivity(entry)}</bdi>
          <span className="small muted">
            <Moment iso={entry.at} now={now} />
          </span>
        </Row>
      ))}
    </Stack>
  );
}
