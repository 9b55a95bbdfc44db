import type { Household, Profile } from '@palisade/contract/household';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useSetDeviceProfile } from '#domain/household/household.ts';
import { KINDS } from '#domain/web-device/web-devices.ts';
import { IconTile, type Tone } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeMoment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';

type Device = Profile['devices'][number];

/** The state of a device in one sentence. Rules apply only while its DNS queries arrive. */
function deviceState({ last_question_at, is_silent }: Device, now: number): { tone: Tone; sentence: string } {
  if (last_question_at === null) return { tone: 'note', sentence: 'Waiting for its first website request.' };
  const at = describeMoment(last_question_at, now);
  if (is_silent) return { tone: 'attention', sentence: `No website request since ${at}. Rules don’t apply there now.` };
  return { tone: 'safe', sentence: `Last website request ${at}.` };
}

function DeviceLine({ device, owner }: { device: Device; owner: string }) {
  const now = useMinute();
  const give = useSetDeviceProfile();
  const { tone, sentence } = deviceState(device, now);
  return (
    <li className="pad-line">
      <Grid columns="both" gap="3" align="center">
        <IconTile tone={tone} icon={KINDS[device.kind].icon} />
        <Stack gap="0" className="shrink">
          <b className="break">{device.name}</b>
          <span className="sub num">{sentence}</span>
        </Stack>
        <Button
          variant="text"
          size="s"
          aria-label={`Remove from ${owner}: ${device.name}`}
          loading={give.isPending}
          onClick={() => {
            if (window.confirm(`Remove “${device.name}” from ${owner}? Its owner’s own rules apply then.`))
              give.mutate({ id: device.id, profile_id: null });
          }}
        >
          {`Remove from ${owner}`}
        </Button>
      </Grid>
      <Refusal error={give.error} />
    </li>
  );
}

interface ProfileDevicesProps {
  profile: Profile;
  free: Household['free_devices'];
}

/** The devices of a profile. An unassigned device is added with one press; a new one on the page of web protection, which leads back here. */
export function ProfileDevices({ profile, free }: ProfileDevicesProps) {
  const { id: profile_id, name, devices } = profile;
  const [isChoosing, setIsChoosing] = useState(false);
  const give = useSetDeviceProfile();
  return (
    <Stack gap="2">
      <Row gap="2" justify="between">
        <h3>Devices</h3>
        <Button
          variant="quiet"
          size="s"
          icon={IconPlus}
          stroke={2}
          aria-expanded={isChoosing}
          onClick={() => setIsChoosing(!isChoosing)}
        >
          Add a device
        </Button>
      </Row>
      {isChoosing && (
        <Row gap="2" className="surface-sunken pad-m">
          {free.map((device) => (
            <Button
              key={device.id}
              variant="quiet"
              size="s"
              icon={KINDS[device.kind].icon}
              disabled={give.isPending}
              onClick={() => give.mutate({ id: device.id, profile_id }, { onSuccess: () => setIsChoosing(false) })}
            >
              {device.name}
            </Button>
          ))}
          <ScreenLink to={`/web-protection?add=&for=${profile_id}`} variant="quiet" size="s">
            Another device
          </ScreenLink>
          <Refusal error={give.error} />
        </Row>
      )}
      {devices.length > 0 && (
        <Stack as="ul" lines>
          {devices.map((device) => (
            <DeviceLine key={device.id} device={device} owner={name} />
          ))}
        </Stack>
      )}
    </Stack>
  );
}
