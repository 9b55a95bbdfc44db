import { type DeviceFinding, listDeviceFindings, orderDeviceFinding } from '@palisade/contract/devices';
import { IconBug } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Badge, IconTile, type Tone } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';

const findingsQuery = queryOptions({
  queryKey: ['devices', 'findings'],
  queryFn: ({ signal }) => call(listDeviceFindings, { signal }),
});

const STATES: Record<DeviceFinding['state'], { label: string; tone: Tone }> = {
  quarantined: { label: 'In quarantine', tone: 'safe' },
  left: { label: 'Still there', tone: 'danger' },
  restored: { label: 'Restored', tone: 'note' },
  deleted: { label: 'Deleted', tone: 'plain' },
};

/** What was found on devices; nothing where nothing was. */
export function FindingsCard({ names }: { names: ReadonlyMap<string, string> }) {
  const { data: findings } = useQuery(findingsQuery);
  const { mutate, isPending, error } = useChange({
    of: orderDeviceFinding,
    mutationFn: ({ id, action }: { id: string; action: 'restore' | 'delete' }) =>
      call(orderDeviceFinding, { params: { id }, body: { action } }),
  });
  if (!findings || findings.length === 0) return null;
  return (
    <Card title="Found on devices">
      {error && (
        <p className="device__failure" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <ul className="device-findings" aria-busy={isPending}>
        {findings.map((finding) => (
          <li key={finding.id}>
            <IconTile tone={finding.state === 'left' ? 'danger' : 'note'} icon={IconBug} />
            <div>
              <b>{finding.threat}</b> on {names.get(finding.device_id) ?? 'a device'}
              <bdi className="device__path">{finding.path}</bdi>
              {finding.reason !== null && <span className="sub">{finding.reason}</span>}
              {finding.order !== null && (
                <span className="sub">
                  {finding.order === 'restore' ? 'Is restored' : 'Is deleted'} as soon as the device hears of it.
                </span>
              )}
            </div>
            <Badge tone={STATES[finding.state].tone}>{STATES[finding.state].label}</Badge>
            {finding.state === 'quarantined' && finding.order === null && (
              <div className="device__buttons">
                <Button
                  size="s"
                  variant="quiet"
                  onClick={() => {
                    if (window.confirm(`Put the file back to ${finding.path}? Scans found it infected.`))
                      mutate({ id: finding.id, action: 'restore' });
                  }}
                >
                  Restore
                </Button>
                <Button
                  size="s"
                  variant="quiet"
                  onClick={() => {
                    if (window.confirm('Delete this file for good?')) mutate({ id: finding.id, action: 'delete' });
                  }}
                >
                  Delete
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
