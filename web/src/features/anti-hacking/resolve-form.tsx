import type { AlertDetail } from '@palisade/contract/alerts';
import { ACCEPTED_RISK_DAYS_MAXIMUM, type resolveAlert, SUPPRESSION_DAYS } from '@palisade/contract/alerts';
import type { ResolutionReason } from '@palisade/contract/anti-hacking';
import { dayAfter, dayOf, startOfDate } from '@palisade/contract/day';
import type { BodySentOf } from '@palisade/contract/endpoint';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ZONE } from '#ui/place.ts';
import { Refusal } from '#ui/refusal.tsx';
import { previewQuery } from './alerts.queries.ts';
import { isPremiumRequired } from './anti-hacking.queries.ts';

const REASONS: readonly { reason: ResolutionReason; label: string; sentence: string }[] = [
  { reason: 'fixed', label: 'Fixed', sentence: 'I fixed the cause.' },
  { reason: 'false_positive', label: 'False positive', sentence: 'It was harmless.' },
  { reason: 'accepted_risk', label: 'Accepted risk', sentence: 'I accept this risk for now.' },
  { reason: 'test', label: 'Test', sentence: 'This was a test.' },
];

const SECOND_MS = 1_000;
const RISK_DAYS = 30;

/** A day in the person's time zone, in the format of a date field. */
function dayFrom(now: number, days: number): string {
  return dayAfter(dayOf(ZONE.name, now), days);
}

interface ResolveFormProps {
  alert: AlertDetail;
  error: Error | null;
  isPending: boolean;
  onResolve: (resolution: BodySentOf<typeof resolveAlert>) => void;
  onCancel: () => void;
}

export function ResolveForm({ alert, error, isPending, onResolve, onCancel }: ResolveFormProps) {
  const [reason, setReason] = useState<ResolutionReason>(alert.simulated ? 'test' : 'fixed');
  const [note, setNote] = useState('');
  const [suppress, setSuppress] = useState(false);
  const [now] = useState(Date.now);
  const [until, setUntil] = useState(() => dayFrom(now, RISK_DAYS));
  const id = useId();

  function submit() {
    onResolve({
      reason,
      ...(note.trim() === '' ? {} : { note }),
      // The end of the chosen day.
      ...(reason === 'accepted_risk'
        ? { until: new Date(startOfDate(ZONE.name, dayAfter(until, 1)) - SECOND_MS).toISOString() }
        : {}),
      ...(reason === 'false_positive' && suppress ? { suppress } : {}),
    });
  }

  return (
    <Form gap="3" className="surface-plain pad-l" error={error} busy={isPending} onSubmit={submit}>
      <Stack as="fieldset" gap="1">
        <legend className="bold below-1">Why are you resolving this?</legend>
        {REASONS.map((one) => (
          <Grid key={one.reason} as="label" columns="lead" gap="2" className="pad-line pointer">
            <input
              className="tick"
              type="radio"
              name={`${id}-reason`}
              // biome-ignore lint/a11y/noAutofocus: the form replaces the button that opened it
              autoFocus={one.reason === reason}
              checked={one.reason === reason}
              onChange={() => setReason(one.reason)}
            />
            <Stack as="span">
              <b className="medium">{one.label}</b>
              <span className="sub">{one.sentence}</span>
            </Stack>
          </Grid>
        ))}
      </Stack>
      {reason === 'accepted_risk' && (
        <Stack gap="1">
          <label className="medium" htmlFor={`${id}-until`}>
            Until the end of
          </label>
          <input
            id={`${id}-until`}
            className="field"
            type="date"
            required
            min={dayFrom(now, 0)}
            max={dayFrom(now, ACCEPTED_RISK_DAYS_MAXIMUM - 1)}
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
          />
        </Stack>
      )}
      {reason === 'false_positive' && <SuppressionOffer alert={alert} isOn={suppress} onChange={setSuppress} />}
      <Stack gap="1">
        <label className="medium" htmlFor={`${id}-note`}>
          Note, if you like
        </label>
        <textarea
          id={`${id}-note`}
          className="field full"
          rows={2}
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </Stack>
      <Refusal error={error} />
      <Row gap="2" phone="fill">
        <Submit>Resolve alert</Submit>
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </Row>
    </Form>
  );
}

/** Preview of a suppression before the decision. */
function SuppressionOffer({ alert, isOn, onChange }: { alert: AlertDetail; isOn: boolean; onChange: (isOn: boolean) => void }) {
  const { data: preview, error } = useQuery({ ...previewQuery(alert.id), enabled: alert.suppressible });
  if (!alert.suppressible) {
    return (
      <p className="sub">
        {alert.severity === 'critical'
          ? 'If it happens again, you’ll get a new alert. Critical alerts are never hidden.'
          : 'If it happens again, you’ll get a new alert. It has no single source to hide.'}
      </p>
    );
  }
  if (isPremiumRequired(error)) return null;
  return (
    <Grid as="label" columns="lead" gap="2" className="pad-s pointer surface-sunken">
      <input className="tick" type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <Stack as="span">
        <b className="medium">{`Hide the same for ${SUPPRESSION_DAYS} days`}</b>
        <span className="sub">
          {alert.ip_address === null
            ? 'Only this rule from this file. You can still see hidden alerts.'
            : 'Only this rule from this source. You can still see hidden alerts.'}
        </span>
        <span className="above-1 base ink off-empty" role="status">
          {error && sentenceOf(error)}
          {preview &&
            plural(preview.would_hide, {
              one: `In the last ${SUPPRESSION_DAYS} days it would have hidden this one alert.`,
              other: `In the last ${SUPPRESSION_DAYS} days it would have hidden ${formatNumber(preview.would_hide)} alerts.`,
            })}
        </span>
      </Stack>
    </Grid>
  );
}
