import { type DashboardDevices, SAMPLE_HEALTH } from '@palisade/contract/dashboard';
import { formatPercent } from '@palisade/contract/intl';
import { FigureMark } from '#ui/figure-mark.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';

/** Measurements of a device. Without one, the static bars of the specification, which only the demo shows. */
export function SystemHealth({ devices }: { devices: DashboardDevices | null }) {
  const now = useMinute();
  const health = devices?.health;
  const bars = health
    ? [
        { label: 'CPU', percent: health.cpu_percent },
        { label: 'Memory', percent: health.memory_percent },
        { label: 'Network', percent: health.network_percent },
      ]
    : devices
      ? []
      : SAMPLE_HEALTH;
  return (
    <Stack as="section" gap="3" className="card" aria-labelledby="health">
      <Row wrap={false} gap="2">
        <h2 id="health">System health</h2>
        {!devices && <FigureMark kind="sample" />}
      </Row>
      {devices && !health && <p className="sub">No device has measured anything yet.</p>}
      {bars.map(({ label, percent }) => (
        <Grid key={label} gap="3" align="center" className="health__bar small muted">
          <span>{label}</span>
          <span className="health__track round">
            {/* Browsers draw meters differently, so the meter is for screen readers and the bar for sighted people. */}
            {percent !== null && (
              <>
                <meter className="visually-hidden" aria-label={label} min={0} max={100} value={percent} />
                <span className="health__share block round" style={{ width: `${percent}%` }} />
              </>
            )}
          </span>
          <span className="num end">{percent === null ? '–' : formatPercent(percent / 100)}</span>
        </Grid>
      ))}
      {health && (
        <p className="sub">
          <bdi>{health.device_name}</bdi>, <Moment iso={health.at} now={now} />
        </p>
      )}
    </Stack>
  );
}
