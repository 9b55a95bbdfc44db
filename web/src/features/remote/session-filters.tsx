import type { SessionStatus } from '@palisade/contract/remote';
import { sessionStatusSchema } from '@palisade/contract/remote-record';
import { IconSearch } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { EmptyState } from '#ui/states.tsx';
import { EVERY_SESSION, type SessionChoice } from './remote.queries.ts';
import { BADGES } from './session-badge.tsx';

const STATES: readonly { value: SessionStatus | undefined; label: string }[] = [
  { value: undefined, label: 'All' },
  ...sessionStatusSchema.options.map((value) => ({ value, label: BADGES[value].label })),
];

export function isNarrowed({ status, search }: SessionChoice): boolean {
  return status !== EVERY_SESSION.status || search !== EVERY_SESSION.search;
}

interface SessionFiltersProps {
  choice: SessionChoice;
  placeholder: string;
  onChange: (choice: SessionChoice) => void;
}

export function SessionFilters({ choice, placeholder, onChange }: SessionFiltersProps) {
  return (
    <ListFilters>
      <StateFilter
        label="Which sessions"
        value={choice.status}
        options={STATES}
        onChoose={(status) => onChange({ ...choice, status })}
      />
      <SearchFilter
        label="Search the sessions"
        placeholder={placeholder}
        value={choice.search}
        onChange={(search) => onChange({ ...choice, search })}
      />
    </ListFilters>
  );
}

export function NoSessionMatches({ onAll }: { onAll: () => void }) {
  return (
    <EmptyState
      icon={<IconSearch size={28} stroke={1.7} />}
      title="No session matches"
      sentence="No session has this state and these words in its code or its name."
      action={
        <Button variant="quiet" onClick={onAll}>
          Show all sessions
        </Button>
      }
    />
  );
}
