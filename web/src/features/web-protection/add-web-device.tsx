import { TextInput } from '@mantine/core';
import { DEVICE_NAME_MAXIMUM } from '@palisade/contract/device-name';
import type { Household } from '@palisade/contract/household';
import { formatNumber, plural } from '@palisade/contract/intl';
import { WEB_DEVICE_KINDS, type WebDevice, type WebDeviceKind, type WebProtection } from '@palisade/contract/web-protection';
import { IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useMayAdministrate } from '#api/policies.ts';
import { useSetDeviceProfile } from '#domain/household/household.ts';
import { LinkToPlans } from '#domain/plan/plans.tsx';
import { KINDS } from '#domain/web-device/web-devices.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { PressCard } from '#ui/press-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { hasUsableSteps, Instructions } from './instructions.tsx';
import { useAddDevice } from './web-protection.queries.ts';

/** A default name: "My iPhone" or "Mia’s iPhone", or "My iPhone 2" if it is taken. */
function newName(kind: WebDeviceKind, devices: readonly WebDevice[], owner?: string): string {
  const name = owner === undefined ? KINDS[kind].name : KINDS[kind].name.replace('My', `${owner}’s`);
  const taken = devices.filter((device) => device.name.startsWith(name)).length;
  return taken === 0 ? name : `${name} ${taken + 1}`;
}

/** Shows that the device's first DNS query is awaited, or has arrived. */
function FirstQuestion({ isSeen }: { isSeen: boolean }) {
  return (
    <Row gap="3" role="status" className={`pad-m ${isSeen ? 'surface-accent' : 'surface-sunken'}`}>
      {isSeen ? (
        <>
          <IconCircleCheck size={24} stroke={1.7} className="accent" aria-hidden="true" />
          <Stack gap="0" className="shrink grow">
            <b className="large">We see this device</b>
            <span className="sub">It asks this server before it opens a website.</span>
          </Stack>
        </>
      ) : (
        <>
          <Spinner />
          <Stack gap="0" className="shrink grow">
            <b>Waiting for this device</b>
            <span className="sub">When the steps are done, open a website there.</span>
          </Stack>
        </>
      )}
    </Row>
  );
}

interface AddWebDeviceProps {
  web: WebProtection;
  /** The initially chosen kind. */
  first: WebDeviceKind | undefined;
  /** Undefined if there is no other content to return to. */
  onClose?: (() => void) | undefined;
  /** Called when the person has chosen a kind. */
  onBegin: () => void;
  /** The household profile that the device is added to. */
  profile?: Household['profiles'][number] | undefined;
}

/** Adds a device: its kind, its name, then the setup steps, until its first DNS query arrives. */
export function AddWebDevice({ web, first, onClose, onBegin, profile }: AddWebDeviceProps) {
  const [kind, setKind] = useState(first);
  const [name, setName] = useState(first === undefined ? '' : newName(first, web.devices, profile?.name));
  const [added, setAdded] = useState<string>();
  const add = useAddDevice();
  const give = useSetDeviceProfile();
  const isAdministrator = useMayAdministrate();
  const device = web.devices.find(({ id }) => id === added);
  const isSeen = device !== undefined && device.last_question_at !== null;
  // A network does not belong to one person.
  const kinds = profile === undefined ? WEB_DEVICE_KINDS : WEB_DEVICE_KINDS.filter((one) => one !== 'router');
  const isOfNetwork = isAdministrator && web.ways.plain !== null && kind === 'router';

  const whichDevice = profile === undefined ? 'Which device?' : `Which device does ${profile.name} use?`;

  function submit() {
    if (kind === undefined) return;
    const address = isOfNetwork ? ({ address: 'network' } as const) : {};
    add.mutate(
      { kind, name, ...address },
      {
        onSuccess({ id }) {
          setAdded(id);
          if (profile !== undefined) give.mutate({ id, profile_id: profile.id });
        },
      },
    );
  }

  return (
    <Card
      title={device?.name ?? (kind === undefined ? whichDevice : `Add: ${KINDS[kind].label}`)}
      action={
        onClose && (
          <Button variant="quiet" size="s" onClick={onClose}>
            {device === undefined ? 'Close' : isSeen ? 'Done' : 'Finish later'}
          </Button>
        )
      }
    >
      {device === undefined && web.devices_left === 0 ? (
        <Stack gap="3">
          <p>
            {plural(web.devices_maximum, {
              one: 'Your plan has web protection for 1 device. Remove it first, or request a larger plan.',
              other: `Your plan has web protection for ${formatNumber(web.devices_maximum)} devices. Remove one first, or request a larger plan.`,
            })}
          </p>
          <Row>
            <LinkToPlans variant="quiet" />
          </Row>
        </Stack>
      ) : kind === undefined ? (
        <Grid as="fieldset" columns="fit-m" gap="3" className="shrink bare" aria-label="Kind of device">
          {kinds.map((one) => (
            <PressCard
              key={one}
              title={KINDS[one].label}
              sentence={KINDS[one].line}
              icon={KINDS[one].icon}
              isOn={false}
              onPress={() => {
                onBegin();
                setKind(one);
                setName(newName(one, web.devices, profile?.name));
              }}
            />
          ))}
        </Grid>
      ) : device === undefined ? (
        <Form gap="4" error={add.error} busy={add.isPending} onEdit={add.reset} onSubmit={submit}>
          <TextInput
            label="Name"
            description={
              isOfNetwork ? 'It stands for every device in the network of this server.' : 'So that you recognize it in lists.'
            }
            size="md"
            required
            withAsterisk={false}
            autoFocus
            maxLength={DEVICE_NAME_MAXIMUM}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Refusal error={add.error} />
          <Row gap="2">
            <Submit>Add device</Submit>
            <Button variant="quiet" onClick={() => setKind(undefined)}>
              Choose another kind
            </Button>
          </Row>
        </Form>
      ) : (
        <Stack gap="4">
          <Refusal error={give.error} />
          <Instructions device={device} ways={web.ways} />
          {(isSeen || hasUsableSteps(device.kind, web.ways)) && <FirstQuestion isSeen={isSeen} />}
        </Stack>
      )}
    </Card>
  );
}
