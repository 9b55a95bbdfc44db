import type { Rule } from '@palisade/contract/firewall';
import { actionSchema, directionSchema } from '@palisade/contract/firewall';
import { compareNames, foldText } from '@palisade/contract/text';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { ruleSentence } from './rule-sentence.ts';
import { ACTIONS, DIRECTIONS } from './rule-words.ts';

/** Filter and order of the rules. All rules are loaded, so this runs in the browser. */
export interface RuleChoice {
  state: 'on' | 'off' | 'odd' | undefined;
  direction: Rule['direction'] | undefined;
  action: Rule['action'] | undefined;
  sort: 'oldest' | 'name' | undefined;
  search: string;
}

export const EVERY_RULE: RuleChoice = {
  state: undefined,
  direction: undefined,
  action: undefined,
  sort: undefined,
  search: '',
};

const SORTS = [
  ['oldest', 'Oldest first'],
  ['name', 'By name'],
] as const;

/** The rules that match the choice, newest first by default. The search covers name, sentence, addresses and port. */
export function chosenOf(
  rules: readonly Rule[],
  conflicts: ReadonlyMap<string, unknown>,
  { state, direction, action, sort, search }: RuleChoice,
): Rule[] {
  const words = foldText(search.trim());
  const found = rules.filter(
    (rule) =>
      (state === undefined || (state === 'odd' ? conflicts.has(rule.id) : rule.enabled === (state === 'on'))) &&
      (direction === undefined || rule.direction === direction) &&
      (action === undefined || rule.action === action) &&
      (words === '' ||
        [rule.rule_name, rule.source_ip, rule.destination_ip, rule.port].some((text) => foldText(text).includes(words)) ||
        foldText(ruleSentence(rule)).includes(words)),
  );
  if (sort === 'oldest') return found.toReversed();
  return sort === 'name' ? found.toSorted((one, other) => compareNames(one.rule_name, other.rule_name)) : found;
}

interface RuleFiltersProps {
  choice: RuleChoice;
  total: number;
  /** Number of active rules, if known, and of rules without effect. */
  counts: { on: number | undefined; odd: number };
  onChange: (choice: RuleChoice) => void;
}

export function RuleFilters({ choice, total, counts, onChange }: RuleFiltersProps) {
  return (
    <ListFilters>
      <StateFilter
        label="Which rules"
        value={choice.state}
        options={[
          { value: undefined, label: 'All', count: total },
          { value: 'on', label: 'On', count: counts.on },
          { value: 'off', label: 'Off', count: counts.on === undefined ? undefined : total - counts.on },
          { value: 'odd', label: 'Conflicts', count: counts.odd },
        ]}
        onChoose={(state) => onChange({ ...choice, state })}
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
