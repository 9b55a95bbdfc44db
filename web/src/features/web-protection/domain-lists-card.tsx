import { formatNumber } from '@palisade/contract/intl';
import type { DomainList } from '@palisade/contract/web-protection';
import { useQuery } from '@tanstack/react-query';
import { CATEGORIES } from '#domain/web-device/web-words.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { domainListsQuery, useAcceptList } from './web-protection.queries.ts';

function ListRow({ list: { id, name, category, names, as_of, waiting, fault } }: { list: DomainList }) {
  const now = useMinute();
  const accept = useAcceptList();
  return (
    <Stack as="li" gap="1" className="pad-row">
      <Row justify="between" gap="3">
        <Stack gap="0" className="shrink grow">
          <b className="break">{name}</b>
          <span className="sub num">
            {`${category === 'dangerous' ? 'Dangerous websites' : CATEGORIES[category]} · ${formatNumber(names)} names`}
            {as_of !== null && (
              <>
                {' · '}
                <Moment iso={as_of} now={now} />
              </>
            )}
          </span>
        </Stack>
        {waiting !== null && (
          <Button variant="quiet" size="s" loading={accept.isPending} onClick={() => accept.mutate(id)}>
            Accept list
          </Button>
        )}
      </Row>
      {waiting !== null && (
        <p className="sub amber">{`The newest list has only ${formatNumber(waiting)} names. We keep the last one until you accept it.`}</p>
      )}
      {fault !== null && <p className="sub amber">{`The last update failed. ${fault}`}</p>}
      <Refusal error={accept.error} />
    </Stack>
  );
}

/** The lists of the installation, for administrators; renders nothing without any. */
export function DomainListsCard() {
  const { data = [] } = useQuery(domainListsQuery);
  if (data.length === 0) return null;
  return (
    <Card title="Lists for all devices">
      <Stack as="ul" lines>
        {data.map((list) => (
          <ListRow key={list.id} list={list} />
        ))}
      </Stack>
    </Card>
  );
}
