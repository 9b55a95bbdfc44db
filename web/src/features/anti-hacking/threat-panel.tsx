import { type Alert, LIVE_FEED, type Stats, simulateThreat } from '@palisade/contract/anti-hacking';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { IconBolt, IconKey, IconShieldCheck, IconShieldLock, IconSwords } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { putRecord } from '#api/change-list.ts';
import { useConfig } from '#api/config.ts';
import { Button } from '#ui/button.tsx';
import { Card, StatCard } from '#ui/card.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { AlertRow } from './alert-row.tsx';
import { ALERTS_KEY } from './alerts.queries.ts';
import { fetchLiveFeed, HISTORY_KEY, isPremiumRequired, prependThreat, statsQuery } from './anti-hacking.queries.ts';
import { LiveFeed } from './live-feed.tsx';

interface Failure {
  title: string;
  sentence: string;
  retry: () => void;
}

/** Live mode, simulated threats, and counts. */
export function ThreatPanel({ random }: { random: () => number }) {
  const stats = useQuery(statsQuery);
  const { isLive, threats, failure, turn, simulate } = useLiveThreats(random);
  const [isSimulating, setIsSimulating] = useState(false);
  const [drill, setDrill] = useState<Alert>();
  const now = useMinute();

  async function press() {
    setIsSimulating(true);
    setDrill(await simulate());
    setIsSimulating(false);
  }

  return (
    <>
      <Card
        title="Threat monitor"
        action={
          <Row gap="4" rowGap="2" justify="end">
            <Toggle label="LIVE" isOn={isLive} onChange={turn} />
            <Button variant="quiet" size="s" icon={IconBolt} loading={isSimulating} onClick={() => void press()}>
              Simulate Threat
            </Button>
          </Row>
        }
      >
        <p className="sub">
          {isLive ? 'We check for new threats every 5 seconds.' : 'Turn LIVE on to follow new threats as they come.'}
        </p>
        {/* The list of alerts may have a filter, and may be out of view. */}
        <div role="status" className="threat-panel__drill above-2 off-empty">
          {drill && (
            <ul aria-label="Simulated just now">
              <AlertRow alert={drill} now={now} />
            </ul>
          )}
        </div>
        {failure && <ErrorNotice title={failure.title} sentence={failure.sentence} onRetry={failure.retry} />}
        {isLive && <LiveFeed threats={threats} hasFailed={failure !== undefined} />}
      </Card>
      {stats.data?.time_zone !== undefined && (
        <p role="note" className="sub">
          This server doesn’t know your time zone. Days here are in UTC.
        </p>
      )}
      {stats.error && !isPremiumRequired(stats.error) && (
        <ErrorNotice
          title="We couldn’t load the counts"
          sentence={sentenceOf(stats.error)}
          onRetry={() => void stats.refetch()}
        />
      )}
      <Tiles stats={stats.data} />
    </>
  );
}

/** The latest threats during live mode, including simulated ones. */
function useLiveThreats(random: () => number) {
  const queries = useQueryClient();
  const config = useConfig();
  // Automatic simulation only in the local demo; customers have only the button.
  const drillsAutomatically = config?.exposure === 'local' && config.demo;
  const [isLive, setIsLive] = useState(false);
  const [threats, setThreats] = useState<Alert[]>();
  const [failure, setFailure] = useState<Failure>();

  const refreshStats = () => queries.invalidateQueries({ queryKey: statsQuery.queryKey });

  async function fetchFeed(signal: AbortSignal) {
    try {
      const { live_threats, current_stats } = await fetchLiveFeed(signal);
      setThreats(live_threats);
      setFailure(undefined);
      putRecord(queries, statsQuery.queryKey, current_stats);
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      setFailure({
        title: 'We couldn’t load the live feed',
        sentence: sentenceOf(error),
        retry: () => void fetchFeed(signal),
      });
    }
  }

  async function simulate(): Promise<Alert | undefined> {
    try {
      const { threat_detected } = await call(simulateThreat);
      setThreats((before) => prependThreat(before ?? [], threat_detected));
      setFailure(undefined);
      await Promise.all([
        refreshStats(),
        queries.invalidateQueries({ queryKey: ALERTS_KEY }),
        queries.invalidateQueries({ queryKey: HISTORY_KEY }),
      ]);
      return threat_detected;
    } catch (error) {
      console.error(error);
      setFailure({ title: 'We couldn’t simulate a threat', sentence: sentenceOf(error), retry: () => void simulate() });
      return undefined;
    }
  }

  const begin = useEffectEvent((signal: AbortSignal) => fetchFeed(signal));
  const tick = useEffectEvent((signal: AbortSignal) => {
    void fetchFeed(signal);
    if (random() < LIVE_FEED.simulate_chance && drillsAutomatically) void simulate();
    if (random() < LIVE_FEED.stats_chance) void refreshStats();
  });

  useEffect(() => {
    if (!isLive) return;
    const controller = new AbortController();
    void begin(controller.signal);
    const timer = setInterval(() => tick(controller.signal), LIVE_FEED.interval_ms);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [isLive]);

  function turn(isOn: boolean) {
    setIsLive(isOn);
    setFailure(undefined);
  }

  return { isLive, threats, failure, turn, simulate };
}

const TILES = [
  { label: 'Threats Blocked Today', icon: IconShieldCheck, of: 'threats_blocked_today', tests: 'test_files_blocked_today' },
  { label: 'Intrusion Attempts Stopped', icon: IconSwords, of: 'intrusion_attempts_stopped' },
  { label: 'Brute Force Attempts Blocked', icon: IconKey, of: 'brute_force_attempts_blocked' },
  { label: 'Total Threats Blocked', icon: IconShieldLock, of: 'threats_blocked_total', tests: 'test_files_blocked_total' },
] as const;

/** Counts of real threats, with one note about what they exclude. */
function Tiles({ stats }: { stats: Stats | undefined }) {
  const { test_files_blocked_total: tests = 0, simulated_threats_blocked_total: simulated = 0 } = stats ?? {};
  const left = [
    ...(tests > 0 ? [plural(tests, { one: '1 harmless test file', other: `${formatNumber(tests)} harmless test files` })] : []),
    ...(simulated > 0
      ? [plural(simulated, { one: '1 simulated alert', other: `${formatNumber(simulated)} simulated alerts` })]
      : []),
  ];
  return (
    <Stack gap="2">
      <div className="page__stats" data-columns="4">
        {TILES.map(({ label, icon, of, ...tile }) => {
          const uncounted = 'tests' in tile ? (stats?.[tile.tests] ?? 0) : 0;
          return (
            <StatCard
              key={of}
              label={label}
              icon={icon}
              value={stats === undefined ? '–' : formatNumber(Math.max(0, stats[of] - uncounted))}
            >
              {null}
            </StatCard>
          );
        })}
      </div>
      {left.length > 0 && (
        <p role="note" aria-label="Not counted" className="sub">{`Not counted: ${formatList(left, 'plain')}.`}</p>
      )}
    </Stack>
  );
}
