import { formatList } from '@palisade/contract/intl';
import type { RemoteSession } from '@palisade/contract/remote';
import type { ChangedThing, DeviceChanges, SessionChange } from '@palisade/contract/session-changes';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { sessionChangesQuery } from './joined.queries.ts';

/** Plain names of changed things. */
const THINGS: Record<ChangedThing, string> = {
  account: 'user account',
  privilege: 'right to act as administrator',
  ssh_key: 'key for signing in from elsewhere',
  autostart: 'program that starts when you sign in',
  service: 'program that runs in the background',
  scheduled: 'program that runs at set times',
  listening: 'open door for connections',
  firewall: 'table of firewall rules',
  program: 'program',
};

const HOW: Record<SessionChange['how'], string> = { added: 'New', changed: 'Changed', removed: 'Removed' };

/** Changes on the customer’s devices between their consent and the end of the session. */
export function ChangedDevices({ session }: { session: RemoteSession }) {
  const { data: devices, error, refetch } = useQuery(sessionChangesQuery(session.id));
  return (
    <Stack gap="2" className="changed">
      {error && <ErrorNotice title="We couldn’t load the changes" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!devices && !error && <LoadingRows label="Loading what changed" />}
      {devices?.length === 0 && <p className="sub">We couldn’t check: none of your devices was connected.</p>}
      {devices?.map((device) => (
        <Device key={device.device_id} device={device} />
      ))}
    </Stack>
  );
}

function Device({ device: { device_name, state, changes, more, unread } }: { device: DeviceChanges }) {
  const device = <bdi>{device_name}</bdi>;
  if (state === 'measuring' || state === 'awaited')
    return (
      <p className="sub" role="status">
        <Sentence text="{device} hasn’t reported changes yet. Switch it on to see them." parts={{ device }} />
      </p>
    );
  if (state === 'not_measured')
    return (
      <p className="sub">
        <Sentence text="We couldn’t check {device}: it wasn’t connected at the start or at the end." parts={{ device }} />
      </p>
    );
  return (
    <>
      <p className="sub">
        <Sentence
          text={changes.length === 0 ? 'We found no changes on {device}.' : 'Ask about anything you didn’t expect. On {device}:'}
          parts={{ device }}
        />
      </p>
      {changes.length > 0 && (
        <Stack as="ul" lines aria-label={`Changed on ${device_name}`}>
          {changes.map(({ thing, how, name }) => (
            <li className="pad-line base break" key={`${thing} ${how} ${name}`}>
              <b>{`${HOW[how]} ${THINGS[thing]}`}</b> <bdi>{name}</bdi>
            </li>
          ))}
          {more > 0 && <li className="pad-line base break">{`And ${more} more.`}</li>}
        </Stack>
      )}
      {unread.length > 0 && (
        <p className="sub">{`We couldn’t check: ${formatList(
          unread.map((thing) => THINGS[thing]),
          'plain',
        )}.`}</p>
      )}
    </>
  );
}
