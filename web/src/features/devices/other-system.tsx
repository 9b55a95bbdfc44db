import { saveDeviceWish, WISH_NOTE_MAXIMUM, type WishedSystem, withdrawDeviceWish } from '@palisade/contract/devices';
import {
  IconCircleCheck,
  IconFileSearch,
  IconMessage,
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
  windows: [SCAN, rulesFor('Windows PowerShell', 'powershell'), SHARE],
  macos: [SCAN, rulesFor('the macOS firewall (pf)', 'pf'), SHARE],
  phone: [
    SCAN,
    { icon: IconShieldSearch, title: 'See security alerts', sentence: 'Check your account for attacks.', to: '/anti-hacking' },
    { icon: IconMessage, title: 'Ask about a message', sentence: 'Show support a suspicious message.', to: '/chat' },
  ],
};

/** A system without an agent: its available features, and a request for more. */
export function OtherSystem({ system }: { system: WishedSystem }) {
  return (
    <div className="add-step">
      <h3>{`You can use these on ${SYSTEM_NAMES[system].here} today`}</h3>
      <ul className="add-ways">
        {WAYS[system].map(({ icon: Icon, title, sentence, to }) => (
          <li key={title}>
            <Icon size={20} stroke={1.7} aria-hidden="true" />
            <div>
              <Link to={to}>{title}</Link>
              <p className="sub">{sentence}</p>
            </div>
          </li>
        ))}
      </ul>
      <Wish system={system} />
    </div>
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
      <div className="add-wish" data-done="">
        <p className="add-step__success" role="status">
          <IconCircleCheck size={24} stroke={1.8} aria-hidden="true" />
          <span>
            <Sentence
              text="You asked for {name} support {when}."
              parts={{ name, when: <Moment iso={wish.created_at} now={now} /> }}
            />
          </span>
        </p>
        {wish.note !== '' && (
          <blockquote>
            <bdi>{wish.note}</bdi>
          </blockquote>
        )}
        <Refusal error={withdraw.error} />
        <div>
          <Button variant="quiet" size="s" loading={withdraw.isPending} onClick={() => withdraw.mutate()}>
            Withdraw request
          </Button>
        </div>
      </div>
    );
  }
  return (
    <Form className="add-wish" error={save.error} busy={save.isPending} onSubmit={() => save.mutate()} onEdit={save.reset}>
      <label htmlFor={id}>{`The Palisade agent doesn’t support ${name} yet. What should it do there?`}</label>
      <textarea
        id={id}
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
