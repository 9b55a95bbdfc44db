import { createEnrolmentCode, type Device } from '@palisade/contract/devices';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { devicesQuery } from '#domain/device/devices.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ConfirmDevice } from './confirm-device.tsx';

/** Matches a command with a local address, which other computers cannot reach. */
const OWN_MACHINE = /\/\/(?:localhost|127\.|\[::1\])/u;

/** Refetch interval while a new device is awaited, in ms; events usually report it sooner. */
const WAITING_INTERVAL = 3_000;

interface AddLinuxProps {
  devices: readonly Device[];
  onDone: (() => void) | undefined;
}

const enrolments = (devices: readonly Device[]) => new Map(devices.map(({ id, enrolled_at }) => [id, enrolled_at]));

/** The command to run on a Linux computer; then waits for it to connect. */
export function AddLinux({ devices, onDone }: AddLinuxProps) {
  const { mutate, data, error, isPending, reset } = useChange({ mutationFn: () => call(createEnrolmentCode) });
  const [isExpired, setIsExpired] = useState(false);
  // A computer that is enrolled again keeps its id, but has a new date.
  const [before, setBefore] = useState(() => enrolments(devices));
  const added = devices.find(({ id, enrolled_at, state }) => state !== 'revoked' && before.get(id) !== enrolled_at);
  const command = data?.command ?? undefined;
  const isWaiting = command !== undefined && added?.state !== 'online';
  useQuery({ ...devicesQuery, refetchInterval: isWaiting ? WAITING_INTERVAL : false });

  // Choosing the system requests the command, once.
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    mutate();
  }, [mutate]);

  const expire = useCallback(() => {
    setIsExpired(true);
    reset();
  }, [reset]);

  function begin() {
    setBefore(enrolments(devices));
    setIsExpired(false);
    mutate();
  }

  if (added?.state === 'waiting') return <ConfirmDevice device={added} />;
  if (added) return <Connected device={added} onAnother={begin} onDone={onDone} />;
  const refusal = data?.refusal ?? (error ? sentenceOf(error) : undefined);
  if (refusal !== undefined || isExpired || data === undefined || command === undefined) {
    return (
      <Stack gap="3" className="pad-row line-above above-4">
        <Refusal error={refusal}>{refusal}</Refusal>
        {isExpired && <p role="status">This command expired. Get a new one.</p>}
        {refusal === undefined && !isExpired && <p role="status">Creating your command…</p>}
        <div>
          <Button loading={isPending} onClick={begin}>
            Get a new command
          </Button>
        </div>
      </Stack>
    );
  }
  return (
    <Stack gap="3" className="pad-row line-above above-4">
      <h3>Run this line in a terminal on the computer</h3>
      <Grid columns="tail" phone="stack" gap="3" align="center" className="surface-sunken pad-m">
        <code className="mono small break" data-command="">
          {command}
        </code>
        <CopyButton text={command} copied="The command was copied." label="Copy command" variant="primary" />
      </Grid>
      {OWN_MACHINE.test(command) && (
        <p className="sub">This command works only on this computer. Ask your server administrator to open access.</p>
      )}
      <p className="sub">
        It installs the Palisade agent, which needs Linux with nftables.{' '}
        <Sentence
          text="When it asks for the enrollment code, type {code}. The code works once, for {time}."
          parts={{
            code: (
              <b className="num" data-code="">
                {data.code}
              </b>
            ),
            time: <Countdown until={Date.parse(data.expires_at)} onEnd={expire} />,
          }}
        />
      </p>
      <Row as="p" wrap={false} gap="3" className="surface-blue pad-m blue base" role="status">
        <Spinner />
        Waiting for the device to connect. Keep this page open to see it.
      </Row>
    </Stack>
  );
}

interface ConnectedProps {
  device: Device;
  onAnother: () => void;
  onDone: (() => void) | undefined;
}

function Connected({ device, onAnother, onDone }: ConnectedProps) {
  const isOnline = device.state === 'online';
  return (
    <Stack gap="3" className="pad-row line-above above-4" role="status" data-done={isOnline}>
      <Row as="p" wrap={false} gap="3" className="accent bold">
        {isOnline ? <IconCircleCheck size={24} stroke={1.8} aria-hidden="true" /> : <Spinner />}
        <span>
          <Sentence
            text={isOnline ? '{device} is connected.' : '{device} is added. Waiting for it to connect.'}
            parts={{ device: <bdi>{device.device_name}</bdi> }}
          />
        </span>
      </Row>
      <p className="sub">Your firewall rules now apply there, and it scans its own files.</p>
      <Row gap="2">
        <ScreenLink to="/firewall">Set up rules</ScreenLink>
        <Button variant="quiet" onClick={onAnother}>
          Add another device
        </Button>
        {onDone && (
          <Button variant="quiet" onClick={onDone}>
            Done
          </Button>
        )}
      </Row>
    </Stack>
  );
}
