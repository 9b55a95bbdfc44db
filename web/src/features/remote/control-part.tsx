import type { JoinedSession } from '@palisade/contract/remote';
import { useEffect, useState } from 'react';
import { saySignal } from '#api/events.ts';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { describeEnd } from './grant-words.ts';
import { useRevoke } from './joined.queries.ts';

const ControlledScreen = lazyPart(async () => (await import('./controlled-screen.tsx')).ControlledScreen);

/** The technician's side of control: requests it, shows the screen of the device while granted, and returns it. */
export function ControlPart({ session }: { session: JoinedSession }) {
  const [isAsked, setIsAsked] = useState(false);
  const revoke = useRevoke(session.id);
  const device = session.grants.find((grant) => grant.device !== null && grant.grant !== 'clipboard')?.device;
  const hasControl = session.grants.some(({ grant }) => grant === 'control');
  // A revoked grant must be requested again.
  useEffect(() => {
    if (hasControl) setIsAsked(false);
  }, [hasControl]);
  if (session.status !== 'active') return null;
  return (
    <Row gap="3" rowGap="2" className="workspace__control pad-s fixed line-above">
      {device && (
        <ControlledScreen
          meanwhile={<LoadingRows label="Loading the screen" />}
          session={session}
          device_name={device.device_name}
        />
      )}
      <p className="sub grow" role="status">
        {!device && session.grants_ended !== null && `Control is off. ${describeEnd(session.grants_ended)} `}
        {!hasControl && isAsked && `You asked ${session.customer} for control. They can decline or not answer.`}
      </p>
      {hasControl ? (
        <Button variant="quiet" size="s" loading={revoke.isPending} onClick={() => revoke.mutate('control')}>
          Give control back
        </Button>
      ) : (
        <Button
          variant="quiet"
          size="s"
          onClick={() => {
            setIsAsked(true);
            saySignal(session.id, { type: 'grant_wanted', grant: 'control' });
          }}
        >
          Ask for control
        </Button>
      )}
      <Refusal error={revoke.error} />
    </Row>
  );
}
