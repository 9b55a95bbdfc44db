import { Textarea } from '@mantine/core';
import { COMMENT_LENGTH_MAXIMUM, type RemoteSession } from '@palisade/contract/remote';
import { exportSessionAudit, type ReportKind } from '@palisade/contract/remote-session';
import { IconFlag } from '@tabler/icons-react';
import { useState } from 'react';
import { download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { type RecordFormat, SaveAs } from '#ui/save-as.tsx';
import { saveFile } from '#ui/save-file.ts';
import { StarRating } from '#ui/star-rating.tsx';
import { sessionAuditQuery, useRateSession, useReport } from './joined.queries.ts';
import { RecordedList } from './recorded-list.tsx';
import { REPORT_KINDS, REPORTS } from './report-words.ts';

/** The customer's rating and report after a session. */
export function RateAndReport({ session }: { session: RemoteSession }) {
  const rate = useRateSession(session.id);
  return (
    <Stack gap="4" align="start" className="after">
      {session.status === 'completed' && <StarRating legend="How good was the help?" given={session.rating} rate={rate} />}
      <Report session={session} />
    </Stack>
  );
}

/** Reports a session to the administrators as an alert. Ends the session if it is open. */
export function Report({ session }: { session: RemoteSession }) {
  const report = useReport(session.id);
  const [isOpen, setIsOpen] = useState(false);
  const [reason, setReason] = useState<ReportKind>('asked_for_money');
  const [comment, setComment] = useState('');

  if (session.reported_at !== null)
    return (
      <Row as="p" gap="3" rowGap="1" className="base" role="status">
        You reported this session. The administrators have an alert and will look at it.
      </Row>
    );
  if (!isOpen)
    return (
      <Button variant="quiet" icon={IconFlag} onClick={() => setIsOpen(true)}>
        Report this session
      </Button>
    );
  return (
    <Form
      gap="2"
      className="full"
      error={report.error}
      busy={report.isPending}
      onSubmit={() => report.mutate({ reason, comment })}
    >
      <Choice
        label="What was wrong?"
        value={reason}
        data={REPORT_KINDS.map((value) => ({ value, label: REPORTS[value] }))}
        onChange={(event) => setReason(REPORT_KINDS.find((kind) => kind === event.currentTarget.value) ?? 'else')}
      />
      <Textarea
        label="What happened (if you like)"
        rows={2}
        maxLength={COMMENT_LENGTH_MAXIMUM}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <p className="sub">Administrators get an alert with your words. If you gave away a password, change it now.</p>
      <Row gap="2">
        <Submit>Send report</Submit>
        <Button variant="quiet" onClick={() => setIsOpen(false)}>
          Not now
        </Button>
      </Row>
      <Refusal error={report.error} />
    </Form>
  );
}

/** Audit entries of a session, which its customer can read and save. */
export function SessionAudit({ session }: { session: RemoteSession }) {
  const save = useChange({
    mutationFn: (format: RecordFormat) => download(exportSessionAudit, { params: { id: session.id }, query: { format } }),
    onSuccess: (file, format) => saveFile(`remote-session-${session.session_code}.${format}`, file),
  });
  return (
    <Stack gap="3">
      <RecordedList query={sessionAuditQuery(session.id)} />
      <Row gap="2">
        <SaveAs labels={{ csv: 'Save the record as CSV', json: 'Save the record as JSON' }} save={save} />
      </Row>
      <Refusal error={save.error} />
    </Stack>
  );
}
