import { SAMPLE_FIGURES } from '@palisade/contract/firewall';
import { IconBan, IconDatabase, IconListCheck, IconShieldCheck } from '@tabler/icons-react';
import { useConfig } from '#api/config.ts';
import { StatCard } from '#ui/card.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';

const ICON = { size: 20, stroke: 1.7 } as const;

interface FirewallStatsProps {
  /** Rules of the account; undefined until it is known. */
  total: number | undefined;
  /** Of these, those that are on, and those that need a look; undefined until all were read. */
  active: number | undefined;
  odd: number | undefined;
}

/** The four figures. Nothing measures the last two without a device, so they are samples where samples are shown, and unknown elsewhere. */
export function FirewallStats({ total, active, odd }: FirewallStatsProps) {
  const hasSamples = useConfig()?.demo === true;
  const origin = <>{hasSamples && <FigureMark kind="sample" />} No device connected</>;
  const look = odd ? `, ${odd} ${odd === 1 ? 'needs' : 'need'} a look` : '';
  return (
    <div className="page__stats firewall-stats" data-columns="4">
      <StatCard label="Status" icon={<IconShieldCheck {...ICON} />} value={hasSamples ? 'ACTIVE' : 'NOT APPLIED'}>
        {origin}
      </StatCard>
      <StatCard label="Active Rules" icon={<IconListCheck {...ICON} />} value={active === undefined ? '–' : String(active)}>
        {total === undefined ? 'of the rules on this account' : `of ${total} on this account${look}`}
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
