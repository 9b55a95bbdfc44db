import { useQuery } from '@tanstack/react-query';
import { useSession } from '#api/session.ts';
import { Row } from '#ui/layout.tsx';
import { ChoiceFilter } from '#ui/list-filters.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { teamQuery, useSetPresence } from './desk.queries.ts';
import { PRESENCE_LABELS } from './desk-words.ts';

/** Sets whether the staff member is available for customers. */
const TONES = { here: 'good', away: 'attention', offline: undefined } as const;

export function PresenceChoice() {
  const me = useSession().session?.user_info.id;
  const { data: team } = useQuery(teamQuery);
  const { mutate, error } = useSetPresence();
  const presence = team?.find(({ id }) => id === me)?.presence;
  return (
    <>
      <Row as="span" wrap={false} gap="1" className="presence" data-tone={presence && TONES[presence]}>
        <ChoiceFilter
          label="Your presence"
          none={PRESENCE_LABELS.offline}
          value={presence === 'offline' ? undefined : presence}
          options={[
            ['here', PRESENCE_LABELS.here],
            ['away', PRESENCE_LABELS.away],
          ]}
          onChoose={(chosen) => mutate(chosen ?? 'offline')}
        />
      </Row>
      <Refusal error={error} />
    </>
  );
}
