import type { RemoteSession } from '@palisade/contract/remote';
import type { Grant, GrantKind } from '@palisade/contract/remote-grant';
import { IconPlayerStopFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onEvent } from '#api/events.ts';
import { devicesQuery, livingOf } from '#domain/device/devices.ts';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { describeEnd, GRANT_LABELS, WANTED } from './grant-words.ts';
import { useGrant, useRevoke } from './joined.queries.ts';

const OF_DEVICE = ['view', 'control', 'clipboard'] as const;
/** Alt+Shift+S ends the whole session (sharing-banner.tsx). */
const STOP_KEY = { code: 'KeyC', name: 'Alt+Shift+C' } as const;

const isOfDevice = (grant: Grant): grant is Grant & { device: NonNullable<Grant['device']> } => grant.device !== null;

/** The grant that the technician has requested, until it is answered or granted. */
function useWanted({ id: session_id, grants }: RemoteSession): [GrantKind | undefined, () => void] {
  const [wanted, setWanted] = useState<GrantKind>();
  useEffect(
    () =>
      onEvent('remote_signal', ({ session_id: of, from, signal }) => {
        if (of !== session_id || from !== 'technician' || signal.type !== 'grant_wanted') return;
        // Files and recordings are requested elsewhere.
        const kind = OF_DEVICE.find((one) => one === signal.grant);
        if (kind !== undefined) setWanted(kind);
      }),
    [session_id],
  );
  const isGranted = grants.some(({ grant, device }) => grant === wanted && device !== null);
  // A grant that is later revoked does not restore the request.
  useEffect(() => {
    if (isGranted) setWanted(undefined);
  }, [isGranted]);
  return [isGranted ? undefined : wanted, () => setWanted(undefined)];
}

/** Control of the customer's devices and all other grants: a switch for each, and one Stop for all. */
export function GrantsCard({ session }: { session: RemoteSession }) {
  const { data: devices } = useQuery(devicesQuery);
  const grant = useGrant(session.id);
  const revoke = useRevoke(session.id);
  const [wanted, forget] = useWanted(session);
  const held = session.grants.filter(isOfDevice);
  const is_held = held.length > 0;
  const stop = revoke.mutate;

  useEffect(() => {
    if (!is_held) return;
    const press = (event: KeyboardEvent) => {
      if (event.altKey && event.shiftKey && !event.repeat && event.code === STOP_KEY.code) stop('all');
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [is_held, stop]);

  const technician = session.support_agent ?? 'The technician';
  const online = livingOf(devices ?? []).filter(({ state }) => state === 'online');
  const controlled = held.find((one) => one.grant === 'control');
  const seen = held.find((one) => one.grant === 'view');
  return (
    <Stack as="section" gap="3" align="start" className="pad-row line-above" aria-labelledby="grants">
      <h3 id="grants">{`What ${technician} may do`}</h3>
      <p role="status">
        {controlled ? (
          <Sentence
            text="**{technician} controls {device}.** Move your mouse to take control back."
            parts={{ technician: <bdi>{technician}</bdi>, device: <bdi>{controlled.device.device_name}</bdi> }}
          />
        ) : seen ? (
          <Sentence
            text="**{technician} sees the screen of {device}.** They can’t control it."
            parts={{ technician: <bdi>{technician}</bdi>, device: <bdi>{seen.device.device_name}</bdi> }}
          />
        ) : (
          <>
            No technician controls your computers.
            {session.grants_ended !== null && ` ${describeEnd(session.grants_ended)}`}
          </>
        )}
      </p>
      {wanted !== undefined && (
        <Row gap="2" className="surface-amber pad-m full">
          <p role="alert" className="grow small break">
            <b>
              <bdi>{WANTED[wanted](technician)}</bdi>
            </b>{' '}
            Allow it below if you want. Otherwise, do nothing.
          </p>
          <Button variant="quiet" size="s" onClick={forget}>
            Not now
          </Button>
        </Row>
      )}
      {online.length === 0 && devices && <p className="sub">To allow control, add a computer in Devices.</p>}
      {online.map(({ id, device_name, capabilities }) =>
        capabilities?.control === true ? (
          <Stack key={id} gap="2" className="full">
            {OF_DEVICE.map((kind) => {
              const isOn = held.some((one) => one.grant === kind && one.device.id === id);
              // The clipboard requires a grant to see or control the same screen.
              if (kind === 'clipboard' && !held.some(({ device }) => device.id === id)) return null;
              return (
                <Toggle
                  wide
                  key={kind}
                  label={GRANT_LABELS[kind](device_name)}
                  isOn={isOn}
                  onChange={() => (isOn ? revoke.mutate(kind) : grant.mutate({ grant: kind, device_id: id }))}
                />
              );
            })}
          </Stack>
        ) : (
          <p key={id} className="sub">
            {device_name}: {capabilities?.control_reason ?? 'its agent cannot show its screen.'}
          </p>
        ),
      )}
      {is_held && (
        <Button
          icon={IconPlayerStopFilled}
          aria-keyshortcuts={STOP_KEY.name}
          title={STOP_KEY.name}
          loading={revoke.isPending}
          onClick={() => revoke.mutate('all')}
        >
          Stop control
        </Button>
      )}
      <Refusal error={grant.error ?? revoke.error} />
    </Stack>
  );
}
