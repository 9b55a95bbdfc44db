import { type Device, type DeviceFinding, listDeviceFindings, orderDeviceFinding } from '@palisade/contract/devices';
import { IconBug } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Badge, IconTile, type Tone } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { SecondLook } from './second-look.tsx';

/** Refetch interval while the server scans a file, in ms. */
const LOOK_INTERVAL = 3_000;

const findingsQuery = queryOptions({
  queryKey: ['devices', 'findings'],
  queryFn: ({ signal }) => call(listDeviceFindings, { signal }),
  // A scan that waits for an engine may end long after the device's last event.
  refetchInterval: ({ state }) =>
    state.data?.some(({ second_look }) => second_look?.state === 'scanning') ? LOOK_INTERVAL : false,
});

const STATES: Record<DeviceFinding['state'], { label: string; tone: Tone }> = {
  quarantined: { label: 'In quarantine', tone: 'safe' },
  left: { label: 'Not removed', tone: 'danger' },
  restored: { label: 'Restored', tone: 'note' },
  deleted: { label: 'Deleted', tone: 'plain' },
};

/** The pending order for a device, in words. */
const ORDERS = {
  restore: 'The device will restore it when it connects.',
  delete: 'The device will delete it when it connects.',
} as const satisfies Record<NonNullable<DeviceFinding['order']>, string>;

/** Findings on devices; renders nothing without any. */
export function FindingsCard({ devices }: { devices: ReadonlyMap<string, Device> }) {
  const { data: findings } = useQuery(findingsQuery);
  const { mutate, isPending, error } = useChange({
    of: orderDeviceFinding,
    mutationFn: ({ id, action }: { id: string; action: 'restore' | 'delete' }) =>
      call(orderDeviceFinding, { params: { id }, body: { action } }),
  });
  const nameOf = ({ device_id }: DeviceFinding) => devices.get(device_id)?.device_name ?? 'a device';
  const canSend = ({ device_id }: DeviceFinding) => {
    const device = devices.get(device_id);
    return device?.state !== 'revoked' && device?.capabilities?.second_look === true;
  };
  if (!findings || findings.length === 0) return null;
  return (
    <Card title="Found on devices">
      <Refusal error={error} />
      <Stack as="ul" lines className="base" aria-busy={isPending}>
        {findings.map((finding) => (
          <Grid key={finding.id} as="li" columns="both" gap="3" align="center" className="pad-row">
            <IconTile tone={finding.state === 'left' ? 'danger' : 'note'} icon={IconBug} />
            <div>
              <Sentence text="**{threat}** on {device}" parts={{ threat: finding.threat, device: nameOf(finding) }} />
              <bdi className="block muted mono tiny break">{finding.path}</bdi>
              {finding.reason !== null && <span className="sub block">{finding.reason}</span>}
              {finding.order !== null && <span className="sub block">{ORDERS[finding.order]}</span>}
            </div>
            <Badge tone={STATES[finding.state].tone}>{STATES[finding.state].label}</Badge>
            <Row gap="2" className="span off-empty">
              {finding.state === 'quarantined' && finding.order === null && (
                <>
                  <Button
                    size="s"
                    variant="quiet"
                    onClick={() => {
                      if (window.confirm(`Restore this infected file to ${finding.path}?`))
                        mutate({ id: finding.id, action: 'restore' });
                    }}
                  >
                    Restore
                  </Button>
                  <Button
                    size="s"
                    variant="quiet"
                    onClick={() => {
                      if (window.confirm('Delete this file permanently?')) mutate({ id: finding.id, action: 'delete' });
                    }}
                  >
                    Delete
                  </Button>
                </>
              )}
              <SecondLook finding={finding} name={nameOf(finding)} canSend={canSend(finding)} />
            </Row>
          </Grid>
        ))}
      </Stack>
    </Card>
  );
}
