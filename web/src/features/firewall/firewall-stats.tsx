import type { Device } from '@palisade/contract/devices';
import { SAMPLE_FIGURES } from '@palisade/contract/firewall';
import { describeBytes, formatNumber, plural } from '@palisade/contract/intl';
import { IconBan, IconDatabase, IconListCheck, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useConfig, useIsConfigAnswered } from '#api/config.ts';
import { blockedQuery, ruleCountsQuery } from '#domain/device/devices.ts';
import { StatCard } from '#ui/card.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';

interface FirewallStatsProps {
  /** Devices that are not revoked; undefined while loading. */
  devices: readonly Device[] | undefined;
  /** Number of rules of the account; undefined while loading. */
  total: number | undefined;
  /** Number of active rules, and of rules without effect; undefined until all rules are loaded. */
  active: number | undefined;
  conflicts: number | undefined;
}

/** The four figures. Three need measurements of a device; without one they are samples in the demo, and unknown otherwise. */
export function FirewallStats({ devices, total, active, conflicts }: FirewallStatsProps) {
  const hasSamples = useConfig()?.demo === true;
  const isAnswered = useIsConfigAnswered();
  // Rendered together with the mark, which would move the text if it came later.
  const originOf = (words: string) =>
    isAnswered && (
      <>
        {hasSamples && <FigureMark kind="sample" />} {words}
      </>
    );
  const measured = useMeasured(devices);
  return (
    <div className="page__stats firewall-stats" data-columns="4">
      <StatCard
        label="Status"
        icon={IconShieldCheck}
        value={measured?.status ?? (isAnswered ? (hasSamples ? 'ACTIVE' : 'NOT APPLIED') : '–')}
      >
        {measured ? measured.where : originOf('on 0 devices')}
      </StatCard>
      <StatCard label="Active Rules" icon={IconListCheck} value={active === undefined ? '–' : formatNumber(active)}>
        {describeTotal(total, conflicts)}
      </StatCard>
      <StatCard
        label="Blocked Attempts"
        icon={IconBan}
        value={measured?.blocked ?? (hasSamples ? SAMPLE_FIGURES.blocked_attempts : '–')}
      >
        {measured ? measured.blockedOrigin : originOf('Not measured yet')}
      </StatCard>
      <StatCard
        label="Data Protected"
        icon={IconDatabase}
        value={measured?.data ?? (hasSamples ? SAMPLE_FIGURES.data_protected : '–')}
      >
        {measured ? 'Allowed by your rules' : originOf('Not measured yet')}
      </StatCard>
    </div>
  );
}

/** Text below the number of active rules. */
function describeTotal(total: number | undefined, conflicts: number | undefined): string {
  if (total === undefined) return 'Rules on your account';
  if (!conflicts) return `of ${formatNumber(total)} on your account`;
  return plural(conflicts, {
    one: `of ${formatNumber(total)}, 1 conflict`,
    other: `of ${formatNumber(total)}, ${formatNumber(conflicts)} conflicts`,
  });
}

/** Measurements of devices; undefined without a device. */
function useMeasured(devices: readonly Device[] | undefined) {
  const hasDevices = devices !== undefined && devices.length > 0;
  const { data: blocked } = useQuery({ ...blockedQuery, enabled: hasDevices });
  const { data: counts } = useQuery({ ...ruleCountsQuery, enabled: hasDevices });
  if (!hasDevices) return undefined;
  const applied = devices.filter(
    ({ enforcement, capabilities }) => enforcement.state === 'applied' && capabilities?.firewall === 'nftables',
  );
  const bytes = counts?.reduce((sum, one) => sum + one.bytes, 0);
  return {
    status: applied.length === devices.length ? 'ACTIVE' : applied.length > 0 ? 'PARTLY ACTIVE' : 'NOT APPLIED',
    where: plural(devices.length, {
      one: `on ${formatNumber(applied.length)} of 1 device`,
      other: `on ${formatNumber(applied.length)} of ${formatNumber(devices.length)} devices`,
    }),
    blocked: blocked ? formatNumber(blocked.packets_total) : '–',
    blockedOrigin: blocked ? `${formatNumber(blocked.packets)} in the last hour` : '',
    data: bytes === undefined ? '–' : describeBytes(bytes),
  };
}
