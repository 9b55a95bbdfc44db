import { formatNumber } from '@palisade/contract/intl';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import type { WebProtection } from '@palisade/contract/web-protection';
import { IconPlus } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { useAsked } from '#ui/use-asked.ts';
import { ChoicesCard, NamesCard, OfHouseholdCard } from './choices.tsx';
import { RefusedCard } from './refused-card.tsx';
import { WebDeviceRow } from './web-device-card.tsx';

/** "3 of 10", or only the number if the plan sets no limit. */
const countOf = (count: number, maximum: number) =>
  maximum >= UNLIMITED_DEVICES ? formatNumber(count) : `${formatNumber(count)} of ${formatNumber(maximum)}`;

/** The devices, the refused names, and the person's choices. `onAdd` begins another device, where nothing above does. */
export function ProtectedDevices({ web, onAdd }: { web: WebProtection; onAdd: (() => void) | undefined }) {
  const asked = useAsked('device');
  // Choices are shown only if there is a device that they apply to.
  const hasOwn = web.devices.some((device) => !device.is_of_household);
  return (
    <>
      <Card
        title="Your devices"
        action={
          <Row gap="3">
            <span className="sub num">{countOf(web.devices_maximum - web.devices_left, web.devices_maximum)}</span>
            {onAdd && (
              <Button variant="quiet" size="s" icon={IconPlus} stroke={2} onClick={onAdd}>
                Add a device
              </Button>
            )}
          </Row>
        }
      >
        <Stack as="ul" lines>
          {web.devices.map((device) => (
            <WebDeviceRow key={device.id} device={device} web={web} reach={device.id === asked.id ? asked.reach : undefined} />
          ))}
        </Stack>
      </Card>
      <Grid columns="2" tablet="stack" gap="4" align="start">
        {hasOwn ? <ChoicesCard web={web} /> : <OfHouseholdCard />}
        <Stack gap="4">
          {hasOwn && <NamesCard names={web.names} />}
          <RefusedCard web={web} />
        </Stack>
      </Grid>
    </>
  );
}
