import { saveDeviceWish, WISH_NOTE_MAXIMUM, type WishedSystem, withdrawDeviceWish } from '@palisade/contract/devices';
import {
  IconCircleCheck,
  IconFileSearch,
  IconMessageSearch,
  IconScreenShare,
  IconShieldSearch,
  IconWall,
  type TablerIcon,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { SYSTEM_NAMES } from './device-words.ts';
import { wishesQuery } from './wishes.queries.ts';

interface Way {
  icon: TablerIcon;
  title: string;
  sentence: string;
  to: string;
}

const SCAN: Way = { icon: IconFileSearch, title: 'Scan files', sentence: 'Upload files to check them.', to: '/antivirus' };
const CHECK: Way = {
  icon: IconMessageSearch,
  title: 'Check a message',
  sentence: 'Find out whether it is a scam.',
  to: '/scam-check',
};
const SHARE: Way = {
  icon: IconScreenShare,
  title: 'Get remote help',
  sentence: 'Share your screen with a technician.',
  to: '/remote',
};
const rulesFor = (firewall: string, target: string): Way => ({
  icon: IconWall,
  title: 'Use your firewall rules',
  sentence: `Export them for ${firewall}.`,
  to: `/firewall?export=${target}`,
});

/** Features that are available on a system without an agent. */
const WAYS: Record<WishedSystem, readonly Way[]> = {
  windows: [SCAN, CHECK, rulesFor('Windows PowerShell', 'powershell'), SHARE],
  macos: [SCAN, CHECK, rulesFor('the macOS firewall (pf)', 'pf'), SHARE],
  phone: [
    SCAN,
    CHECK,
    { icon: IconShieldSearch, title: 'See security alerts', sentence: 'Check your account for attacks.', to: '/anti-hacking' },
  ],
};

/** A system without an agent: its available features, and a request for more. */
export function OtherSystem({ system }: { system: WishedSystem }) {
  return (
    <Stack gap="3" className="pad-row line-above above-4">
      <h3>{`You can also use these on ${SYSTEM_NAMES[system].here} today`}</h3>
      <Grid as="ul" columns="fit-l" gap="3">
        {WAYS[system].map(({ icon: Icon, title, sentence, to }) => (
          <Grid key={title} as="li" columns="lead" gap="3" className="surface-plain pad-m">
            <Icon size={20} stroke={1.7} aria-hidden="true" className="accent" />
            <div>
              <Link to={to} className="medium">
                {title}
              </Link>
              <p className="sub">{sentence}</p>
            </div>
          </Grid>
        ))}
      </Grid>
      <Wish system={system} />
    </Stack>
  );
}

function Wish({ system }: { system: WishedSystem }) {
  const { data: wishes } = useQuery(wishesQuery);
  const id = useId();
  const [note, setNote] = useState('');
  const now = useMinute();
  const save = useChange({
    of: saveDeviceWish,
    mutationFn: () => call(saveDeviceWish, { body: { system, note } }),
    onSuccess: () => setNote(''),
  });
  const withdraw = useChange({ of: withdrawDeviceWish, mutationFn: () => call(withdrawDeviceWish, { body: { system } }) });
  const wish = wishes?.find((one) => one.system === system);
  const { name } = SYSTEM_NAMES[system];
  if (wish) {
    return (
      <Stack gap="2" className="surface-sunken pad-l" data-done="">
        <Row as="p" wrap={false} gap="3" className="accent bold" role="status">
          <IconCircleCheck size={24} stroke={1.8} aria-hidden="true" />
          <span>
            <Sentence
              text="You asked for {name} support {when}."
              parts={{ name, when: <Moment iso={wish.created_at} now={now} /> }}
            />
          </span>
        </Row>
        {wish.note !== '' && (
          <blockquote className="surface-plain pad-s muted break">
            <bdi>{wish.note}</bdi>
          </blockquote>
        )}
        <Refusal error={withdraw.error} />
        <div>
          <Button variant="quiet" size="s" loading={withdraw.isPending} onClick={() => withdraw.mutate()}>
            Withdraw request
          </Button>
        </div>
      </Stack>
    );
  }
  return (
    <Form
      gap="2"
      className="surface-sunken pad-l"
      error={save.error}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
      onEdit={save.reset}
    >
      <label
        htmlFor={id}
        className="base medium"
      >{`The Palisade agent doesn’t support ${name} yet. What should it do there?`}</label>
      <textarea
        id={id}
        className="field full"
        rows={2}
        maxLength={WISH_NOTE_MAXIMUM}
        placeholder="Optional"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Refusal error={save.error} />
      <div>
        <Submit variant="quiet">{`Request ${name} support`}</Submit>
      </div>
    </Form>
  );
}
