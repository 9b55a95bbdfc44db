import { alertAdvice, alertProof, alertTitle } from '@palisade/contract/alert-advice';
import type { AlertDecision, AlertDetail } from '@palisade/contract/alerts';
import type { ResolutionReason } from '@palisade/contract/anti-hacking';
import { formatNumber } from '@palisade/contract/intl';
import { IconAlertTriangle, IconHelpCircle, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { DetailDialog, DetailPart, Fact, Facts } from '#ui/detail-dialog.tsx';
import { describeDate, Moment, useMinute } from '#ui/moment.tsx';
import { AlertDecisions } from './alert-decisions.tsx';
import { type EventGroup, groupEvents } from './alert-events.ts';
import { alertQuery } from './alerts.queries.ts';
import { describeType, OutcomeBadges, SeverityBadge, StatusBadge, ThreatIcon, TimesBadge } from './threat.tsx';
import './alert-detail.css';

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

function Detail({ alert, onChangePassword }: { alert: AlertDetail; onChangePassword: () => void }) {
  const now = useMinute();
  const OutcomeIcon = OUTCOME_ICONS[alert.outcome];
  // After "It wasn’t me" the next step replaces the advice.
  const isAnswered = alert.decisions[0]?.kind === 'not_me';
  return (
    <>
      <div className="alert-detail__head">
        <ThreatIcon alert={alert} />
        <div>
          <p className="alert-detail__title">{capital(alertTitle(alert))}</p>
          <p className="alert-detail__badges">
            <SeverityBadge severity={alert.severity} />
            <TimesBadge count={alert.count} />
            <OutcomeBadges alert={alert} />
            <StatusBadge alert={alert} />
          </p>
          <p>
            <bdi>{alert.description}</bdi>
          </p>
        </div>
      </div>

      <p className="alert-detail__proof" data-outcome={alert.simulated ? 'unknown' : alert.outcome}>
        <OutcomeIcon size={20} stroke={1.7} aria-hidden="true" />
        {alertProof(alert)}
      </p>

      <DetailPart title="What to do">
        {!isAnswered && (
          <ul className="alert-detail__advice">
            {alertAdvice(alert).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
        <AlertDecisions alert={alert} onChangePassword={onChangePassword} />
        <ShowToSupport kind="alert" id={alert.id} name={describeType(alert.threat_type)} />
      </DetailPart>

      <DetailPart title="How we know">
        <p>{capital(alert.evidence.threshold)}</p>
        {alert.evidence.events.length > 0 && (
          <ol className="alert-detail__events" aria-label="Sample events">
            {groupEvents(alert.evidence.events).map((event) => (
              <li key={JSON.stringify(event)}>
                <span className="alert-detail__at">
                  <Moment iso={event.at} now={now} />
                  {isLater(event) && (
                    <>
                      {' – '}
                      <Moment iso={event.until} now={now} />
                    </>
                  )}
                </span>
                <span>
                  <span>
                    <bdi>{event.what}</bdi>
                    {event.count > 1 && <b className="num">{`, ${formatNumber(event.count)} times`}</b>}
                  </span>
                  {event.source !== null && <code>{event.source}</code>}
                </span>
              </li>
            ))}
          </ol>
        )}
        <Facts>
          <Fact name="Type">{describeType(alert.threat_type)}</Fact>
          {!alert.simulated && (
            <Fact name="Rule">
              <code>{alert.rule}</code>
            </Fact>
          )}
          <Fact name="First seen">
            <Moment iso={alert.first_seen} now={now} />
          </Fact>
          {alert.count > 1 && (
            <>
              <Fact name="Last seen">
                <Moment iso={alert.last_seen} now={now} />
              </Fact>
              <Fact name="How often">{`${formatNumber(alert.count)} times`}</Fact>
            </>
          )}
          {alert.ip_address !== null && (
            <Fact name="Source IP">
              <code>{alert.ip_address}</code>
            </Fact>
          )}
        </Facts>
      </DetailPart>

      {alert.decisions.length > 0 && (
        <DetailPart title="Your decisions">
          <ol className="alert-detail__events" aria-label="Decisions">
            {alert.decisions.map((decision) => (
              <li key={decision.id}>
                <span className="alert-detail__at">
                  <Moment iso={decision.at} now={now} />
                </span>
                <span>
                  {describeDecision(decision)}
                  {decision.note !== null && (
                    <span className="sub">
                      <bdi>{decision.note}</bdi>
                    </span>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </DetailPart>
      )}
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

function describeDecision({ kind, reason, until }: AlertDecision): string {
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
