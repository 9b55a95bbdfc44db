import type { Monitor } from '@palisade/contract/alerts';
import type { Alert } from '@palisade/contract/anti-hacking';
import { IconAlertTriangle, IconEye, IconEyeOff, IconShieldCheck, type TablerIcon } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { rowsOf } from '#api/pages.ts';
import { ACTIVE, alertsQuery, monitorQuery } from './alerts.queries.ts';
import { describeType } from './threat.tsx';

interface Answer {
  tone: 'good' | 'attention' | 'danger' | 'unknown';
  sentence: string;
  detail: string;
  /** The alert to open first. */
  first?: string;
}

const SEVERITIES: readonly Alert['severity'][] = ['critical', 'high', 'medium', 'low'];
const ICONS: Record<Answer['tone'], TablerIcon> = {
  good: IconShieldCheck,
  attention: IconEye,
  danger: IconAlertTriangle,
  unknown: IconEyeOff,
};

/** What the active alerts amount to. Practice alerts are nothing that happened. */
export function answerOf(alerts: readonly Alert[], monitor: Pick<Monitor, 'watches'> | undefined): Answer {
  const real = alerts.filter(({ simulated }) => !simulated);
  const open = real
    .filter(({ blocked }) => !blocked)
    .toSorted((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  const [gravest] = open;
  if (gravest) {
    const isGrave = gravest.severity === 'critical' || gravest.severity === 'high';
    const count = open.length === 1 ? 'One alert needs you.' : `${open.length} alerts need you.`;
    const detail = `${open.length === 1 ? 'It is about' : 'Begin with the gravest'}: ${describeType(gravest.threat_type).toLowerCase()}. Open it to see what happened and what to do.`;
    return { tone: isGrave ? 'danger' : 'attention', sentence: count, detail, first: gravest.id };
  }
  if (monitor?.watches.every(({ is_watched }) => !is_watched))
    return {
      tone: 'unknown',
      sentence: 'Nothing is being watched just now.',
      detail: 'So nobody can say whether something was tried against you. The reasons stand with the alerts.',
    };
  if (real.length > 0)
    return {
      tone: 'good',
      sentence: 'Everything that was tried was stopped.',
      detail: `${real.length === 1 ? 'One alert tells' : `${real.length} alerts tell`} what it was. You need not do anything.`,
    };
  return {
    tone: 'good',
    sentence: 'Nothing needs you right now.',
    detail: 'If something is tried against you, an alert appears here.',
  };
}

/** The answer before everything else: whether something needs the person. */
export function AnswerCard() {
  const { data, error } = useInfiniteQuery(alertsQuery(ACTIVE));
  const alerts = rowsOf(data);
  const { data: monitor } = useQuery(monitorQuery);
  if (error) return null;
  if (!alerts) return <div className="card threat-answer" role="status" aria-label="Reading your alerts" />;
  const { tone, sentence, detail, first } = answerOf(alerts, monitor);
  const Icon = ICONS[tone];
  return (
    <section className="card threat-answer" data-tone={tone} aria-labelledby="threat-answer">
      <span className="threat-answer__icon" aria-hidden="true">
        <Icon size={28} stroke={1.7} />
      </span>
      <div>
        <h2 id="threat-answer">{sentence}</h2>
        <p className="sub">{detail}</p>
      </div>
      {first !== undefined && (
        <Link to={`?alert=${first}`} preventScrollReset className="threat-answer__open">
          Open the alert
        </Link>
      )}
    </section>
  );
}
