import { shownEmail } from '@palisade/contract/shown-email';
import { listUsers } from '@palisade/contract/users';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useId } from 'react';
import { call } from '#api/call.ts';
import { EmailField } from '#ui/email-field.tsx';

/** Minimum length of a search, and maximum number of suggestions. */
const LETTERS_LEAST = 2;
const PROPOSED_MAXIMUM = 6;

interface PersonFieldProps {
  value: string;
  error: string | undefined;
  onChange: (email: string) => void;
}

/** An email field that suggests people with an account while typing part of their email or username. */
export function PersonField({ value, error, onChange }: PersonFieldProps) {
  const id = useId();
  const search = useDeferredValue(value.trim());
  const { data: people = [] } = useQuery({
    queryKey: ['users', 'proposed', search],
    queryFn: ({ signal }) => call(listUsers, { query: { search, limit: PROPOSED_MAXIMUM, sort: 'name' }, signal }),
    enabled: search.length >= LETTERS_LEAST,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <EmailField
        label="User Email"
        name="user_email"
        autoComplete="off"
        placeholder="user@example.com"
        required
        list={id}
        value={value}
        error={error}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={id}>
        {people.map(({ id: person_id, email, username }) => (
          <option key={person_id} value={shownEmail(email)}>
            {username}
          </option>
        ))}
      </datalist>
    </>
  );
}
