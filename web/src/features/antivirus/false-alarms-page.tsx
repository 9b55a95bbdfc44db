import {
  decideFalseAlarm,
  type FalseAlarm,
  listFalseAlarms,
  type ReportStatus,
  reopenFalseAlarm,
} from '@palisade/contract/quarantine';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconArrowBackUp, IconCheck, IconClock, IconFlag, IconX } from '@tabler/icons-react';
import { queryOptions } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useList } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import './false-alarms-page.css';

const falseAlarmsQuery = queryOptions({
  queryKey: ['false-alarms'],
  queryFn: ({ signal }) => call(listFalseAlarms, { signal }),
});

const STATUSES = {
  open: { label: 'Open', icon: IconClock, tone: 'attention' },
  confirmed: { label: 'False alarm', icon: IconCheck, tone: 'safe' },
  rejected: { label: 'Dangerous', icon: IconX, tone: 'danger' },
} as const satisfies Record<ReportStatus, unknown>;

export function FalseAlarmsPage() {
  return (
    <Page title="False alarms" sentence="Decide on results that people dispute. You can undo a decision; the scan result stays.">
      <Reports />
    </Page>
  );
}

function Reports() {
  const list = useList(falseAlarmsQuery);
  const now = useMinute();
  return (
    <ListCard
      title="Disputed results"
      of="the reports"
      list={list}
      empty={
        <EmptyState
          icon={IconFlag}
          drawing={<Drawing of="calm" />}
          title="No disputed results"
          sentence="When someone disputes a result, you decide here."
        />
      }
    >
      {(reports) => (
        <ul>
          {reports.map((report) => (
            <ReportRow key={report.id} report={report} now={now} />
          ))}
        </ul>
      )}
    </ListCard>
  );
}

function ReportRow({ report, now }: { report: FalseAlarm; now: number }) {
  const decide = useChange({
    of: decideFalseAlarm,
    mutationFn: (decision: 'confirmed' | 'rejected') => call(decideFalseAlarm, { body: { report_id: report.id, decision } }),
  });
  const reopen = useChange({
    of: reopenFalseAlarm,
    mutationFn: (decided_at: string) => call(reopenFalseAlarm, { body: { report_id: report.id, decided_at } }),
  });
  const decideAs = (decision: 'confirmed' | 'rejected') => {
    reopen.reset();
    decide.mutate(decision);
  };
  const isReportOpen = report.status === 'open';
  const { reset: forgetDecision } = decide;
  // Another administrator reopened the report, so the earlier decision no longer applies.
  useEffect(() => {
    if (isReportOpen) forgetDecision();
  }, [isReportOpen, forgetDecision]);
  const { label, icon, tone } = STATUSES[report.status];
  const { decided_at } = report;
  return (
    <Grid as="li" columns="lead" gap="3" className="false-alarm pad-row line-between">
      <IconTile tone={tone} icon={IconFlag} />
      <Stack gap="0" className="break">
        <Grid columns="tail" gap="3" align="center">
          <span className="medium base">
            <FileName name={report.filename} />
          </span>
          <Badge tone={tone} icon={icon}>
            {label}
          </Badge>
        </Grid>
        <span className="false-alarm__threat small medium red">
          {report.threat_member === null ? (
            <bdi>{report.threat_detected}</bdi>
          ) : (
            <Sentence
              text="{threat} in the file {file}"
              parts={{ threat: <bdi>{report.threat_detected}</bdi>, file: <FileName name={report.threat_member} /> }}
            />
          )}
        </span>
        <span className="small muted">
          <bdi>{shownEmail(report.user_email)}</bdi>, <Moment iso={report.reported_at} now={now} />
        </span>
        {report.reason !== '' && (
          <blockquote className="surface-sunken pad-s base pre above-2">
            <bdi>{report.reason}</bdi>
          </blockquote>
        )}
        {/* The error of the latest attempt: a refusal refetches the list, which then no longer offers the refused action. */}
        <Refusal error={decide.error ?? reopen.error} />
        <Row phone="fill" gap="2" align="stretch" className="above-3">
          {isReportOpen && (
            <>
              <Button
                size="s"
                loading={decide.isPending && decide.variables === 'confirmed'}
                disabled={decide.isPending}
                aria-label={`Confirm false alarm for ${report.filename}`}
                onClick={() => decideAs('confirmed')}
              >
                Confirm false alarm
              </Button>
              <Button
                variant="quiet"
                size="s"
                loading={decide.isPending && decide.variables === 'rejected'}
                disabled={decide.isPending}
                aria-label={`Confirm threat for ${report.filename}`}
                onClick={() => decideAs('rejected')}
              >
                Confirm threat
              </Button>
            </>
          )}
          {decided_at !== null && (
            <Button
              variant="text"
              size="s"
              icon={IconArrowBackUp}
              loading={reopen.isPending}
              aria-label={`Undo the decision about ${report.filename}`}
              onClick={() => {
                forgetDecision();
                reopen.mutate(decided_at);
              }}
            >
              Undo
            </Button>
          )}
          <details className="false-alarm__more shrink small muted">
            <summary>File and scanner details</summary>
            {report.engines.map((engine) => (
              <span
                key={engine.name}
                className="num block"
              >{`${engine.name} ${engine.version}, threat definitions ${engine.signatures_version}`}</span>
            ))}
            <span className="block">
              <Sentence text="Fingerprint {hash}" parts={{ hash: <code className="mono tiny">{report.file_hash}</code> }} />
            </span>
          </details>
        </Row>
      </Stack>
    </Grid>
  );
}
