import { formatNumber, plural } from '@palisade/contract/intl';
import type { Status, StatusState } from '@palisade/contract/status';
import { IconAlertTriangle, IconEye, IconEyeOff, IconShieldCheck, type TablerIcon } from '@tabler/icons-react';
import { ScreenLink } from '#ui/button-link.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';

const ICONS: Record<StatusState, TablerIcon> = {
  good: IconShieldCheck,
  attention: IconEye,
  danger: IconAlertTriangle,
  unknown: IconEyeOff,
};

/** The one status of the person at the top of a screen, with its next step. */
export function StatusLead({ status }: { status: Status | undefined }) {
  if (!status) return <LeadWaiting label="Reading your security status" />;
  const { state, sentence, detail, next, others } = status;
  const more = plural(others.length, {
    one: 'Then 1 more step.',
    other: `Then ${formatNumber(others.length)} more steps.`,
  });
  return (
    <Lead
      tone={state}
      icon={ICONS[state]}
      title={sentence}
      sentence={others.length > 0 ? `${detail} ${more}` : detail}
      action={
        next && (
          <ScreenLink to={next.fix_route} preventScrollReset={next.fix_route.includes('?')} size="l">
            {next.action}
          </ScreenLink>
        )
      }
    />
  );
}
