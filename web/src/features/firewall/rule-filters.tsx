import type { Rule } from '@palisade/contract/firewall';
import { actionSchema, directionSchema } from '@palisade/contract/firewall';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { ACTIONS, DIRECTIONS } from './rule-words.ts';

/** Which rules are listed, and in which order. All of them have been read, so that this needs no server. */
export interface RuleChoice {
  enabled: boolean | undefined;
  direction: Rule['direction'] | undefined;
  action: Rule['action'] | undefined;
  sort: 'oldest' | 'name' | undefined;
  search: string;
}

export const EVERY_RULE: RuleChoice = {
  enabled: undefined,
  direction: undefined,
  action: undefined,
  sort: undefined,
  search: '',
};

const SORTS = [
  ['oldest', 'Oldest first'],
  ['name', 'By name'],
] as const;

/** The rules that a person wants to see, newest first where they say nothing else. Words are looked for in the name, the addresses and the port. */
export function chosenOf(rules: readonly Rule[], { enabled, direction, action, sort, search }: RuleChoice): Rule[] {
  const words = search.trim().toLowerCase();
  const found = rules.filter(
    (rule) =>
      (enabled === undefined || rule.enabled === enabled) &&
      (direction === undefined || rule.direction === direction) &&
      (action === undefined || rule.action === action) &&
      [rule.rule_name, rule.source_ip, rule.destination_ip, rule.port].some((text) => text.toLowerCase().includes(words)),
  );
  if (sort === 'oldest') return found.toReversed();
  return sort === 'name' ? found.toSorted((one, other) => one.rule_name.localeCompare(other.rule_name, 'en')) : found;
}

interface RuleFiltersProps {
  choice: RuleChoice;
  rules: readonly Rule[];
  onChange: (choice: RuleChoice) => void;
}

export function RuleFilters({ choice, rules, onChange }: RuleFiltersProps) {
  const enabled = rules.filter((rule) => rule.enabled).length;
  const stateOf = { undefined: undefined, true: 'on', false: 'off' } as const;
  return (
    <ListFilters>
      <StateFilter
        label="Which rules"
        value={stateOf[`${choice.enabled}`]}
        options={[
          { value: undefined, label: 'All', count: rules.length },
          { value: 'on', label: 'On', count: enabled },
          { value: 'off', label: 'Off', count: rules.length - enabled },
        ]}
        onChoose={(state) => onChange({ ...choice, enabled: state === undefined ? undefined : state === 'on' })}
      />
      <SearchFilter
        label="Search the rules"
        placeholder="Name, address or port"
        value={choice.search}
        onChange={(search) => onChange({ ...choice, search })}
      />
      <div className="list-filters__choices">
        <ChoiceFilter
          label="Direction"
          value={choice.direction}
          options={directionSchema.options.map((direction) => [direction, DIRECTIONS[direction]])}
          onChoose={(direction) => onChange({ ...choice, direction })}
        />
        <ChoiceFilter
          label="Action"
          value={choice.action}
          options={actionSchema.options.map((action) => [action, ACTIONS[action]])}
          onChoose={(action) => onChange({ ...choice, action })}
        />
        <ChoiceFilter
          label="Order"
          none="Newest first"
          value={choice.sort}
          options={SORTS}
          onChoose={(sort) => onChange({ ...choice, sort })}
        />
      </div>
    </ListFilters>
  );
}
