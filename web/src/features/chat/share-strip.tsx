import { type SharedKind, sharedKindSchema } from '@palisade/contract/chat-record';
import { idSchema } from '@palisade/contract/fields';
import { IconMessageShare } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { randomUuid } from '#api/browser.ts';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { useShare } from './chat.queries.ts';

const QUESTIONS = {
  alert: { named: 'Show the alert **{name}** to support?', unnamed: 'Show the alert that you came from to support?' },
  scan: { named: 'Show the scan of **{name}** to support?', unnamed: 'Show the scan that you came from to support?' },
  rule: {
    named: 'Show the firewall rule **{name}** to support?',
    unnamed: 'Show the firewall rule that you came from to support?',
  },
  device: { named: 'Show the device **{name}** to support?', unnamed: 'Show the device that you came from to support?' },
  scam_check: {
    named: 'Show the scam check of **{name}** to support?',
    unnamed: 'Show the scam check that you came from to support?',
  },
} as const;

/**
 * The record in the address (`scan:<id>`) that another screen offers to show to support; undefined if it is missing or unreadable.
 * `ask` removes it from the address: a late reply must not lead back here after the person followed another link.
 */
function useWanted() {
  const [search, setSearch] = useSearchParams();
  const [asked, setAsked] = useState<{ thing: SharedKind; subject_id: string; name: string }>();
  const [kind, id] = (search.get('share') ?? '').split(':');
  const thing = sharedKindSchema.safeParse(kind).data;
  const subject_id = idSchema.safeParse(id).data;
  const name = (search.get('name') ?? '').slice(0, 120);
  const wanted = thing && subject_id ? { thing, subject_id, name } : asked;
  const leaveAddress = () => setSearch({}, { replace: true });
  return {
    wanted,
    ask: () => {
      setAsked(wanted);
      leaveAddress();
    },
    refuse: () => {
      setAsked(undefined);
      leaveAddress();
    },
    end: () => setAsked(undefined),
  };
}

/** Asks before a record is shown to support, and says what support can then see. */
export function ShareStrip() {
  const { wanted, ask, refuse, end } = useWanted();
  const share = useShare();
  // One id for all presses, so that the record is sent once.
  const [client_message_id] = useState(randomUuid);
  if (!wanted) return null;
  const { thing, subject_id, name } = wanted;
  return (
    <Row as="section" gap="3" rowGap="2" className="surface-accent pad-m base" aria-label="Show this to support">
      <IconMessageShare size={20} stroke={1.7} className="accent fixed" aria-hidden="true" />
      <p className="grow break">
        {name === '' ? QUESTIONS[thing].unnamed : <Sentence text={QUESTIONS[thing].named} parts={{ name: <bdi>{name}</bdi> }} />}{' '}
        They can open this one thing from then on, and nothing else.
      </p>
      <Row gap="2">
        <Button
          size="s"
          loading={share.isPending}
          onClick={() => {
            ask();
            share.mutate({ thing, subject_id, client_message_id }, { onSuccess: end });
          }}
        >
          Show it
        </Button>
        <Button variant="quiet" size="s" onClick={refuse}>
          Not now
        </Button>
      </Row>
      <Refusal error={share.error} />
    </Row>
  );
}
