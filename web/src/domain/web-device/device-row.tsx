import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Badge, IconTile, type Tone } from '#ui/badge.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';

interface DeviceRowProps {
  icon: TablerIcon;
  name: string;
  /** Link to the device's own part. */
  to?: string;
  /** The line below the name. */
  line: string;
  /** The state of each kind of protection; the first one colors the icon. */
  states: readonly { tone: Tone; words: string }[];
  action?: ReactNode;
  /** Content below, aligned with the name. */
  children?: ReactNode;
}

/** A list item for a device with the agent or with web protection. */
export function DeviceRow({ icon, name, to, line, states, action, children }: DeviceRowProps) {
  return (
    <Grid columns="lead" gap="3" align="start">
      <IconTile tone={states[0]?.tone ?? 'plain'} icon={icon} />
      <Stack gap="2" className="shrink">
        <Row gap="2" justify="between">
          <Stack gap="0" className="shrink">
            <b className="break">{to === undefined ? name : <Link to={to}>{name}</Link>}</b>
            <span className="sub num">{line}</span>
          </Stack>
          <Row gap="2">
            {states.map(({ tone, words }) => (
              <Badge key={words} tone={tone}>
                {words}
              </Badge>
            ))}
            {action}
          </Row>
        </Row>
        {children}
      </Stack>
    </Grid>
  );
}
