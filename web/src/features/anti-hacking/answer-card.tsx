import type { Monitor } from '@palisade/contract/alerts';
import { formatNumber, plural } from '@palisade/contract/intl';
import { IconAlertTriangle, IconEye, IconEyeOff, IconShieldCheck, type TablerIcon } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { ScreenLink } from '#ui/button-link.tsx';
import { Lead, type LeadTone, LeadWaiting } from '#ui/lead.tsx';
import { monitorQuery } from './alerts.queries.ts';
import { describeType } from './threat.tsx';

interface Answer {
  tone: LeadTone;
  sentence: string;
  detail: string;
  /** The alert to open first. */
  first?: string;
}

const ICONS: Record<Answer['tone'], TablerIcon> = {
  good: IconShieldCheck,
  attention: IconEye,
  danger: IconAlertTriangle,
  unknown: IconEyeOff,
};

/** A sentence about blocked threats and simulated alerts. */
function describeStopped(real: number, practice: number): string {
  const blocked = plural(real, { one: 'One threat blocked', other: `${formatNumber(real)} threats blocked` });
  if (practice === 0) return `${blocked}. No action needed.`;
  return plural(practice, {
    one: `${blocked}; one simulated alert not counted. No action needed.`,
    other: `${blocked}; ${formatNumber(practice)} simulated alerts not counted. No action needed.`,
  });
}

/** Summary of all active alerts, from the server's counts. Simulated alerts do not count. */
export function answerOf({ alerts, watches }: Pick<Monitor, 'alerts' | 'watches'>): Answer {
  const { active, real, unstopped, gravest } = alerts;
  const practice = active - real;
  if (gravest) {
    const isGrave = gravest.severity === 'critical' || gravest.severity === 'high';
    const kind = describeType(gravest.threat_type).toLowerCase();
    const { sentence, detail } = plural(unstopped, {
      one: {
        sentence: 'One alert needs you.',
        detail: `It’s about: ${kind}. Open it to see what happened and what to do.`,
      },
      other: {
        sentence: `${formatNumber(unstopped)} alerts need you.`,
        detail: `Start with the most serious: ${kind}. Open it to see what happened and what to do.`,
      },
    });
    return { tone: isGrave ? 'danger' : 'attention', sentence, detail, first: gravest.id };
  }
  if (watches.every(({ is_watched }) => !is_watched))
    return {
      tone: 'unknown',
      sentence: 'Nothing is being watched right now.',
      detail: 'We can’t see attacks on you. The list of alerts says why.',
    };
  if (real > 0) {
    return { tone: 'good', sentence: 'We stopped every threat.', detail: describeStopped(real, practice) };
  }
  return {
    tone: 'good',
    sentence: 'Nothing needs you right now.',
    detail:
      practice > 0
        ? 'The alerts below are simulated. A real one would appear above them.'
        : 'If someone attacks you, an alert appears here.',
  };
}

/** The main answer: whether an alert needs the person. */
export function AnswerCard() {
  const { data: monitor, error } = useQuery(monitorQuery);
  if (error) return null;
  if (!monitor) return <LeadWaiting label="Reading your alerts" />;
  const { tone, sentence, detail, first } = answerOf(monitor);
  const Icon = ICONS[tone];
  const open = first !== undefined && (
    <ScreenLink to={`?alert=${first}`} preventScrollReset size="l">
      Open the alert
    </ScreenLink>
  );
  return <Lead tone={tone} icon={Icon} title={sentence} sentence={detail} action={open} />;
}
