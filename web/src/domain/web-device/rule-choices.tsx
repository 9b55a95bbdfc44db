import { formatList } from '@palisade/contract/intl';
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
  /** Lists and services that this server has. */
  web: Pick<WebProtection, 'categories' | 'services'>;
  policy: WebPolicy;
  onChange: (policy: WebPolicy) => void;
}

/** Choices of categories, safe search and services, for all devices of a person or for a profile. */
export function RuleChoices({ web, policy, onChange }: RuleChoicesProps) {
  const listed = new Set(web.categories.flatMap(({ category, names }) => (names > 0 ? [category] : [])));
  const missing = WEB_CATEGORIES.filter((category) => !listed.has(category));
  return (
    <>
      {WEB_CATEGORIES.filter((category) => listed.has(category)).map((category) => (
        <Toggle
          key={category}
          wide
          label={
            <Stack gap="0">
              <b>{CATEGORIES[category]}</b> <span className="sub">{CATEGORY_LINES[category]}</span>
            </Stack>
          }
          isOn={policy.categories.includes(category)}
          onChange={(isOn) => onChange({ ...policy, categories: toggled(policy.categories, category, isOn) })}
        />
      ))}
      {missing.length > 0 && (
        <p className="sub">
          {`This server has no list for ${formatList(missing.map((category) => CATEGORIES[category].toLowerCase()))}.`}
        </p>
      )}
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
