import type { ProfileRefusal } from '@palisade/contract/household';
import { formatNumber } from '@palisade/contract/intl';
import type { WebProtection } from '@palisade/contract/web-protection';
import { Badge } from '#ui/badge.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { reasonOf } from './web-words.ts';

interface RefusedWebsiteProps {
  refused: Pick<ProfileRefusal, 'name' | 'category' | 'count' | 'last_at'>;
  device: string | undefined;
  services: WebProtection['services'];
}

/** A refused website with the reason, the device and the time of the last refusal. */
export function RefusedWebsite({ refused: { name, category, count, last_at }, device, services }: RefusedWebsiteProps) {
  const now = useMinute();
  return (
    <Stack gap="1" className="shrink">
      <bdi className="medium break">{name}</bdi>
      <Row gap="2" rowGap="1">
        <Badge tone={category === 'dangerous' ? 'danger' : 'plain'}>{reasonOf(category, services)}</Badge>
        {device !== undefined && <span className="sub">{device}</span>}
        <span className="sub">
          <Moment iso={last_at} now={now} />
        </span>
        {count > 1 && <span className="sub">{`${formatNumber(count)} times`}</span>}
      </Row>
    </Stack>
  );
}
