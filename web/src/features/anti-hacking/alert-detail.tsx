import { alertAdvice, alertProof, alertTitle, ruleName } from '@palisade/contract/alert-advice';
import type { AlertDecision, AlertDetail } from '@palisade/contract/alerts';
import type { ResolutionReason } from '@palisade/contract/anti-hacking';
import { formatNumber } from '@palisade/contract/intl';
import { IconAlertTriangle, IconHelpCircle, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import type { Tone } from '#ui/badge.tsx';
import { DetailDialog, DetailPart, Fact, Facts } from '#ui/detail-dialog.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeDate, Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { AlertDecisions } from './alert-decisions.tsx';
import { type EventGroup, groupEvents } from './alert-events.ts';
import { alertQuery } from './alerts.queries.ts';
import { describeType, OutcomeBadges, SeverityBadge, StatusBadge, ThreatIcon, TimesBadge } from './threat.tsx';

interface AlertDetailDialogProps {
  id: string;
  onClose: () => void;
  /** Opens the dialog to set a new password. */
  onChangePassword: () => void;
}

/** All facts about an alert, in the order of a person's questions: the event, whether it was stopped, the next step, the evidence. */
export function AlertDetailDialog({ id, onClose, onChangePassword }: AlertDetailDialogProps) {
  const { data, error, refetch } = useQuery(alertQuery(id));
  return (
    <DetailDialog
      title="Security alert"
      sentences={{ loading: 'Loading the alert', failed: 'We couldn’t load the alert', missing: 'We couldn’t find this alert' }}
      shown={data}
      error={error}
      onRetry={refetch}
      onClose={onClose}
    >
      {(alert) => <Detail alert={alert} onChangePassword={onChangePassword} />}
    </DetailDialog>
  );
}

const MINUTE_MS = 60_000;

const OUTCOME_ICONS: Record<AlertDetail['outcome'], typeof IconShieldCheck> = {
  blocked: IconShieldCheck,
  allowed: IconAlertTriangle,
  unknown: IconHelpCircle,
};

const OUTCOME_TONES: Record<AlertDetail['outcome'], Tone> = { blocked: 'safe', allowed: 'attention', unknown: 'plain' };

function Detail({ alert, onChangePassword }: { alert: AlertDetail; onChangePassword: () => void }) {
  const now = useMinute();
  const OutcomeIcon = OUTCOME_ICONS[alert.outcome];
  // After "It wasn’t me" the next step replaces the advice.
  const isAnswered = alert.decisions[0]?.kind === 'not_me';
  const isResolved = alert.status === 'resolved';
  const { data: dashboard } = useQuery(dashboardQuery);
  const steps = dashboard && [dashboard.status.next, ...dashboard.status.others];
  return (
    <>
      <Grid columns="lead" gap="3">
        <ThreatIcon alert={alert} />
        <Stack gap="1" className="break">
          <p className="large bold">{capital(alertTitle(alert))}</p>
          <Row as="p" gap="2" rowGap="1">
            <SeverityBadge severity={alert.severity} />
            <TimesBadge count={alert.count} />
            <OutcomeBadges alert={alert} />
            <StatusBadge alert={alert} />
          </Row>
          <p>
            <bdi>{alert.description}</bdi>
          </p>
        </Stack>
      </Grid>

      <DetailPart title="What to do">
        {isResolved && <p>Resolved. You can reopen it if it isn’t over.</p>}
        {!isAnswered && !isResolved && (
          <Stack as="ul" gap="1" className="disc">
            {alertAdvice(alert, steps && !steps.some((step) => step?.id === 'no_two_factor')).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </Stack>
        )}
        <AlertDecisions alert={alert} onChangePassword={onChangePassword} />
        <ShowToSupport kind="alert" id={alert.id} name={describeType(alert.threat_type)} />
      </DetailPart>

      <DetailPart title="How we know">
        {!alert.simulated && (
          <Grid
            as="p"
            columns="lead"
            gap="3"
            align="center"
            className="tinted rounded pad-m medium"
            data-tone={OUTCOME_TONES[alert.outcome]}
          >
            <OutcomeIcon size={20} stroke={1.7} aria-hidden="true" />
            {alertProof(alert)}
          </Grid>
        )}
        <p>{capital(alert.evidence.threshold)}</p>
        {alert.evidence.events.length > 0 && (
          <Stack as="ol" lines className="surface-sunken pad-s" aria-label="Sample events">
            {groupEvents(alert.evidence.events).map((event) => (
              <Grid as="li" columns="term" phone="stack" gap="3" rowGap="0" className="pad-line" key={JSON.stringify(event)}>
                <span className="muted num">
                  <Moment iso={event.at} now={now} />
                  {isLater(event) && (
                    <>
                      {' – '}
                      <Moment iso={event.until} now={now} />
                    </>
                  )}
                </span>
                <Stack as="span" gap="0" className="break">
                  <span>
                    <bdi>{event.what}</bdi>
                    {event.count > 1 && <b className="num">{`, ${formatNumber(event.count)} times`}</b>}
                  </span>
                  {event.source !== null && <code className="muted">{event.source}</code>}
                </Stack>
              </Grid>
            ))}
          </Stack>
        )}
        <Facts>
          <Fact name="Type">{describeType(alert.threat_type)}</Fact>
          {!alert.simulated && (
            <Fact name="Rule">
              <span title={alert.rule}>{ruleName(alert.rule)}</span>
            </Fact>
          )}
          <Fact name="When">
            {alert.count === 1 && <Moment iso={alert.first_seen} now={now} />}
            {alert.count > 1 && (
              <Sentence
                text="{first} – {last}, {count} times"
                parts={{
                  first: <Moment iso={alert.first_seen} now={now} />,
                  last: <Moment iso={alert.last_seen} now={now} />,
                  count: formatNumber(alert.count),
                }}
              />
            )}
          </Fact>
          {alert.ip_address !== null && (
            <Fact name="Source IP">
              <code>{alert.ip_address}</code>
            </Fact>
          )}
        </Facts>
      </DetailPart>

      <Decisions decisions={alert.decisions} now={now} />
    </>
  );
}

/** Whether the last event of a group has another shown time (minute) than the first. */
function isLater({ at, until }: EventGroup): boolean {
  return Math.floor(Date.parse(at) / MINUTE_MS) !== Math.floor(Date.parse(until) / MINUTE_MS);
}

const REASONS: Record<ResolutionReason, string> = {
  fixed: 'You resolved it: fixed.',
  was_me: 'You said it was you.',
  false_positive: 'You resolved it: a false positive.',
  accepted_risk: 'You accepted the risk',
  test: 'You resolved it: a test.',
};

function describeDecision({ kind, reason, until, by }: AlertDecision): string {
  if (by === 'monitor' && kind === 'resolved') return 'The file is gone, so we resolved it.';
  if (by === 'monitor' && kind === 'reopened') return 'The file isn’t gone after all, so we reopened it.';
  switch (kind) {
    case 'acknowledged':
      return 'You acknowledged it.';
    case 'reopened':
      return 'You reopened it.';
    case 'recurred':
      return 'It happened again, so we reopened it.';
    case 'not_me':
      return 'You said it wasn’t you.';
    case 'other':
      return 'This alert has changed. Reload the page.';
    case 'resolved':
      if (reason === null) return 'You resolved it.';
      return until === null ? REASONS[reason] : `${REASONS[reason]} until ${describeDate(until)}.`;
  }
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Decisions({ decisions, now }: { decisions: AlertDetail['decisions']; now: number }) {
  if (decisions.length === 0) return null;
  return (
    <DetailPart title="Decisions">
      <Stack as="ol" lines className="surface-sunken pad-s" aria-label="Decisions">
        {decisions.map((decision) => (
          <Grid as="li" columns="term" phone="stack" gap="3" rowGap="0" className="pad-line" key={decision.id}>
            <span className="muted num">
              <Moment iso={decision.at} now={now} />
            </span>
            <Stack as="span" gap="0" className="break">
              {describeDecision(decision)}
              {decision.note !== null && (
                <span className="sub">
                  <bdi>{decision.note}</bdi>
                </span>
              )}
            </Stack>
          </Grid>
        ))}
      </Stack>
    </DetailPart>
  );
}
