import { formatNumber, plural } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { Card } from '#ui/card.tsx';
import { Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { SYSTEM_NAMES } from './device-words.ts';
import { wishedQuery } from './wishes.queries.ts';

/** Systems that people have requested, for administrators; renders nothing without requests. */
export function WishesCard() {
  const { data: wished } = useQuery(wishedQuery);
  if (!wished || wished.length === 0) return null;
  return (
    <Card title="Requested systems">
      <p className="sub">People on this server asked for the Palisade agent here. Only administrators see this.</p>
      <Stack as="ul" gap="3" className="pad-line">
        {wished.map(({ system, people, notes }) => (
          <li key={system}>
            <p>
              <Sentence
                text={plural(people, { one: '**{system}**: 1 person', other: '**{system}**: {count} people' })}
                parts={{ system: SYSTEM_NAMES[system].name, count: <span className="num">{formatNumber(people)}</span> }}
              />
            </p>
            {notes.map((note, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two people may write the same note
              <blockquote key={index} className="surface-plain pad-s muted break">
                <bdi>{note}</bdi>
              </blockquote>
            ))}
          </li>
        ))}
      </Stack>
    </Card>
  );
}
