import type { DashboardStatus } from '@palisade/contract/dashboard';
import { formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import { IconClock, IconShield, IconShieldX, IconWall, type TablerIcon } from '@tabler/icons-react';
import { Link } from 'react-router';
import { StatCard } from '#ui/card.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { describeUncounted } from '#ui/test-files.ts';
import type { SimulatedCounters } from './simulated-counters.ts';

interface StatCardsProps {
  status: DashboardStatus | undefined;
  /** Undefined without simulation. */
  simulated: SimulatedCounters | undefined;
}

export function StatCards({ status, simulated }: StatCardsProps) {
  const now = useMinute();
  const devices = status?.devices;
  // With a device: its last deep scan. Without one: the last file that was read completely.
  const finished = devices ? devices.last_deep_scan?.at : status?.measured.last_finished_at;
  return (
    <div className="page__stats" data-columns="4">
      <StatCard label="Security Score" icon={IconShield} value={status ? formatPercent(status.security_score / 100) : '–'}>
        {status && describeScore(status)}
        {status && status.score_checks.unknown > 0 && status.status.looked_at.devices === 0 && (
          <Link className="block above-1" to="/devices">
            Most need a connected computer
          </Link>
        )}
      </StatCard>
      <Counter
        label="Threats Neutralized"
        icon={IconShieldX}
        simulated={simulated?.threats}
        measured={status && status.measured.threats_neutralized - status.measured.test_files_neutralized}
        tests={status?.measured.test_files_neutralized}
      />
      <Counter label="Firewall Rules" icon={IconWall} simulated={simulated?.rules} measured={status?.measured.firewall_rules} />
      <StatCard label="Last Deep Scan" icon={IconClock} value={status ? (finished ? 'COMPLETE' : 'PENDING') : '–'}>
        {finished ? (
          <>
            <Moment iso={finished} now={now} />
            {devices?.last_deep_scan && (
              <>
                , <bdi>{devices.last_deep_scan.device_name}</bdi>
              </>
            )}
          </>
        ) : (
          status && (devices ? 'no device was fully scanned yet' : 'no file has been fully checked yet')
        )}
      </StatCard>
    </div>
  );
}

/** Explains the basis of the score, and the number of reasons that lower it. */
function describeScore({ score_breakdown, score_checks, status }: DashboardStatus): string {
  const { ran, unknown } = score_checks;
  if (!status.is_scored)
    return unknown === 0
      ? 'Starting value. Nothing checked yet.'
      : plural(unknown, {
          one: 'Starting value: 1 check couldn’t run yet.',
          other: `Starting value: ${formatNumber(unknown)} checks couldn’t run yet.`,
        });
  const count = score_breakdown.length;
  const found = count === 0 ? `nothing to fix in ${formatNumber(ran)} checks` : `${formatNumber(count)} to fix`;
  return unknown === 0 ? found : `${found}, ${formatNumber(unknown)} couldn’t run`;
}

interface CounterProps {
  label: string;
  icon: TablerIcon;
  simulated: number | undefined;
  measured: number | undefined;
  /** Number of harmless test files, which the measured figure excludes. */
  tests?: number | undefined;
}

/** A measured figure. In the demo the simulated figure stands next to it, or replaces it while nothing was measured. */
function Counter({ label, icon, simulated, measured, tests }: CounterProps) {
  const uncounted = describeUncounted(tests);
  const from = uncounted ?? 'measured on this account';
  if (simulated === undefined) {
    return (
      <StatCard label={label} icon={icon} value={measured === undefined ? '–' : formatNumber(measured)}>
        {from}
      </StatCard>
    );
  }
  if (measured !== undefined && measured > 0) {
    return (
      <StatCard label={label} icon={icon} value={formatNumber(measured)}>
        {from}
        <span className="block above-1">
          <FigureMark kind="simulated" /> <span className="num">{formatNumber(simulated)}</span>
        </span>
      </StatCard>
    );
  }
  return (
    <StatCard label={label} icon={icon} value={formatNumber(simulated)}>
      <FigureMark kind="simulated" />
      {measured !== undefined && <span className="block above-1">{`${formatNumber(measured)} measured on this account`}</span>}
      {uncounted && <span className="block above-1">{uncounted}</span>}
    </StatCard>
  );
}
