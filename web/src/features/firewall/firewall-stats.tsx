import { type Rule, SAMPLE_FIGURES } from '@palisade/contract/firewall';
import { IconBan, IconDatabase, IconListCheck, IconShieldCheck } from '@tabler/icons-react';
import { useConfig } from '#api/config.ts';
import { StatCard } from '#ui/card.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';

const ICON = { size: 20, stroke: 1.7 } as const;

/** The four figures. Nothing measures the last two without a device, so they are samples where samples are shown, and unknown elsewhere. */
export function FirewallStats({ rules }: { rules: readonly Rule[] | undefined }) {
  const hasSamples = useConfig()?.demo === true;
  const active = rules?.filter((rule) => rule.enabled).length;
  const origin = <>{hasSamples && <FigureMark kind="sample" />} No device connected</>;
  return (
    <div className="page__stats" data-columns="4">
      <StatCard label="Status" icon={<IconShieldCheck {...ICON} />} value={hasSamples ? 'ACTIVE' : 'NOT APPLIED'}>
        {origin}
      </StatCard>
      <StatCard label="Active Rules" icon={<IconListCheck {...ICON} />} value={active === undefined ? '–' : String(active)}>
        {rules && `of ${rules.length} on this account`}
      </StatCard>
      <StatCard label="Blocked Attempts" icon={<IconBan {...ICON} />} value={hasSamples ? SAMPLE_FIGURES.blocked_attempts : '–'}>
        {origin}
      </StatCard>
      <StatCard label="Data Protected" icon={<IconDatabase {...ICON} />} value={hasSamples ? SAMPLE_FIGURES.data_protected : '–'}>
        {origin}
      </StatCard>
    </div>
  );
}
