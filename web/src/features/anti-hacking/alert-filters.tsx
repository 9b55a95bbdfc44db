import type { Monitor } from '@palisade/contract/alerts';
import { ALERT_TYPES } from '@palisade/contract/anti-hacking';
import { severitySchema } from '@palisade/contract/severity';
import { memo, useState } from 'react';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { ACTIVE, type AlertChoice } from './alerts.queries.ts';
import { describeType } from './threat.tsx';

const STATES: readonly { value: AlertChoice['status']; label: string; count?: 'active' | 'resolved' | 'hidden' }[] = [
  { value: 'active', label: 'Active', count: 'active' },
  { value: 'resolved', label: 'Resolved', count: 'resolved' },
  { value: 'hidden', label: 'Hidden', count: 'hidden' },
  { value: undefined, label: 'All' },
];

/** Minimum number of alerts of all states for which search, severity and type are shown. */
const WORTH_NARROWING = 10;

interface AlertFiltersProps {
  choice: AlertChoice;
  counts: Monitor['alerts'] | undefined;
  onChange: (choice: AlertChoice) => void;
}

export const AlertFilters = memo(function AlertFilters({ choice, counts, onChange }: AlertFiltersProps) {
  // Decided once, because filters that appear later would move the list.
  const [isNarrowed] = useState(() => !counts || counts.active + counts.resolved + counts.hidden >= WORTH_NARROWING);
  const hasOrigin = isNarrowed || choice.simulated !== ACTIVE.simulated;
  return (
    <ListFilters>
      <StateFilter
        label="Which alerts"
        value={choice.status}
        options={STATES.map(({ count, ...state }) => ({ ...state, count: count && countOf(counts, count, choice) }))}
        onChoose={(status) => onChange({ ...choice, status })}
      />
      {isNarrowed && (
        <SearchFilter
          label="Search the alerts"
          placeholder="Words or source address"
          value={choice.search}
          onChange={(search) => onChange({ ...choice, search })}
        />
      )}
      {hasOrigin && (
        <div className="list-filters__choices">
          {isNarrowed && (
            <>
              <ChoiceFilter
                label="Severity"
                value={choice.severity}
                options={severitySchema.options.map((severity) => [severity, capital(severity)])}
                onChoose={(severity) => onChange({ ...choice, severity })}
              />
              <ChoiceFilter
                label="Type"
                value={choice.type}
                options={ALERT_TYPES.map((type) => [type, capital(describeType(type))])}
                onChoose={(type) => onChange({ ...choice, type })}
              />
            </>
          )}
          <ChoiceFilter
            label="Origin"
            value={choice.simulated}
            options={[
              ['false', 'Simulated apart'],
              ['true', 'Only simulated'],
            ]}
            onChoose={(simulated) => onChange({ ...choice, simulated })}
          />
        </div>
      )}
    </ListFilters>
  );
});

/** Number of alerts in a state; undefined if the server's counts do not apply to the chosen origin. */
function countOf(counts: Monitor['alerts'] | undefined, state: 'active' | 'resolved' | 'hidden', { simulated }: AlertChoice) {
  if (simulated === undefined || counts === undefined) return counts?.[state];
  if (state !== 'active') return undefined;
  return simulated === 'false' ? counts.real : counts.active - counts.real - counts.test_files;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
