import { SAFE_SEARCH, WEB_CATEGORIES, type WebPolicy, type WebProtection } from '@palisade/contract/web-protection';
import { Check } from '#ui/check.tsx';
import { Choice } from '#ui/choice.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { CATEGORIES, CATEGORY_LINES, SERVICE_KINDS } from './web-words.ts';

const SAFE_SEARCH_WORDS = { off: 'Off', moderate: 'On', strict: 'On, with strict YouTube' };
const KIND_NAMES = ['video', 'games', 'chats'] as const;

function toggled<Value>(values: readonly Value[], value: Value, isOn: boolean): Value[] {
  return [...values.filter((one) => one !== value), ...(isOn ? [value] : [])];
}

interface RuleChoicesProps {
  /** Lists and services of this server. */
  web: Pick<WebProtection, 'categories' | 'services'>;
  policy: WebPolicy;
  onChange: (policy: WebPolicy) => void;
}

/** Categories, safe search and services: of all devices of a person, or of a profile. */
export function RuleChoices({ web, policy, onChange }: RuleChoicesProps) {
  const available = new Map(web.categories.map(({ category, names }) => [category, names > 0]));
  return (
    <>
      {WEB_CATEGORIES.map((category) => {
        const hasList = available.get(category) === true;
        return (
          <Toggle
            key={category}
            wide
            label={
              <Stack gap="0">
                <b>{CATEGORIES[category]}</b>{' '}
                <span className="sub">{hasList ? CATEGORY_LINES[category] : 'This server has no list for it.'}</span>
              </Stack>
            }
            isOn={hasList && policy.categories.includes(category)}
            disabled={!hasList}
            onChange={(isOn) => onChange({ ...policy, categories: toggled(policy.categories, category, isOn) })}
          />
        );
      })}
      <Choice
        label="Safe search"
        size="md"
        value={policy.safe_search}
        data={SAFE_SEARCH.map((value) => ({ value, label: SAFE_SEARCH_WORDS[value] }))}
        onChange={({ currentTarget: { value } }) => {
          const safe_search = SAFE_SEARCH.find((one) => one === value);
          if (safe_search !== undefined) onChange({ ...policy, safe_search });
        }}
      />
      {KIND_NAMES.map((kind) => (
        <details key={kind}>
          <summary>{SERVICE_KINDS[kind]}</summary>
          <Grid columns="fit-s" gap="2" className="pad-line">
            {web.services
              .filter((service) => service.kind === kind)
              .map(({ id, name }) => (
                <Check
                  key={id}
                  label={name}
                  checked={policy.services.includes(id)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange({ ...policy, services: toggled(policy.services, id, checked) })
                  }
                />
              ))}
          </Grid>
        </details>
      ))}
    </>
  );
}
