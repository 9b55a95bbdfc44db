import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { formatNumber } from '@palisade/contract/intl';
import { IconChevronDown, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import './list-filters.css';

/** Minimum length of a list for which filters are shown. */
const FILTERED_FROM = 10;

/** True if a list of this length shows its filters. A filtered list always does, so that the filter can be removed. */
export const needsFilters = (length: number, isNarrowed: boolean): boolean => isNarrowed || length > FILTERED_FROM;

/** Filters above a list: states first, then the others. */
export function ListFilters({ children }: { children: ReactNode }) {
  return <div className="list-filters">{children}</div>;
}

interface StateFilterProps<Value extends string> {
  /** Label for screen readers: "Which alerts". */
  label: string;
  /** `undefined` selects all. */
  value: Value | undefined;
  options: readonly { value: Value | undefined; label: string; count?: number | undefined }[];
  onChoose: (value: Value | undefined) => void;
}

/** Shows the rows of one state, or all. A count of 0 is omitted. */
export function StateFilter<Value extends string>({ label, value, options, onChoose }: StateFilterProps<Value>) {
  return (
    <fieldset className="list-filters__states shrink rounded-s" aria-label={label}>
      {options.map((option) => (
        <label key={option.label}>
          <input type="radio" name={label} checked={option.value === value} onChange={() => onChoose(option.value)} />
          <span>
            {option.label}
            {option.count !== undefined && option.count > 0 && (
              <>
                {' '}
                <span className="num">{formatNumber(option.count)}</span>
              </>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Pause in typing after which the server is asked. */
const TYPING_PAUSE_MS = 250;

/** The search text after typing has paused. */
export function useSearched(typed: string): string {
  return useDebouncedValue(typed.trim(), TYPING_PAUSE_MS)[0];
}

interface SearchProps {
  /** Label for screen readers: "Search the alerts". */
  label: string;
  /** The searched fields: "File or threat". */
  placeholder: string;
  value: string;
  onChange: (typed: string) => void;
}

export function SearchFilter({ label, placeholder, value, onChange }: SearchProps) {
  return (
    <TextInput
      className="list-filters__search"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} stroke={1.7} aria-hidden="true" />}
      maxLength={100}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value | undefined;
  options?: readonly (readonly [Value, string])[];
  /** Grouped options, after the ungrouped ones. */
  groups?: readonly (readonly [string, readonly (readonly [Value, string])[]])[];
  /** Label of the empty choice, if "Any ..." does not fit. */
  none?: string;
  onChoose: (value: Value | undefined) => void;
}

/** A single choice. The native select, which phones show full screen, styled like the other controls. */
export function ChoiceFilter<Value extends string>({
  label,
  value,
  options = [],
  groups = [],
  none,
  onChoose,
}: ChoiceProps<Value>) {
  const all = [...options, ...groups.flatMap(([, some]) => some)];
  return (
    <span className="list-filters__choice">
      <select
        aria-label={label}
        data-chosen={value !== undefined}
        value={value ?? ''}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          onChoose(all.find(([known]) => known === chosen)?.[0]);
        }}
      >
        <option value="">{none ?? `Any ${label.toLowerCase()}`}</option>
        <Options options={options} />
        {groups.map(([name, some]) => (
          <optgroup key={name} label={name}>
            <Options options={some} />
          </optgroup>
        ))}
      </select>
      <IconChevronDown size={16} stroke={1.7} aria-hidden="true" />
    </span>
  );
}

function Options({ options }: { options: readonly (readonly [string, string])[] }) {
  return options.map(([known, words]) => (
    <option key={known} value={known}>
      {words}
    </option>
  ));
}
