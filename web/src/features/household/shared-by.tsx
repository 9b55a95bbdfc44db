import type { Household } from '@palisade/contract/household';
import { Check } from '#ui/check.tsx';
import { Grid } from '#ui/layout.tsx';

interface SharedByProps {
  /** Profiles of the home except the edited one. */
  profiles: Household['profiles'];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** The people who use a shared computer. */
export function SharedBy({ profiles, chosen, onChange }: SharedByProps) {
  const people = profiles.filter(({ shared_by }) => shared_by.length === 0);
  if (people.length < 2) return null;
  return (
    <details open={chosen.length > 0 || undefined}>
      <summary>Several people share this computer</summary>
      <p className="sub">The strictest rules of these people apply: names can’t be told apart by person there.</p>
      <Grid as="fieldset" columns="fit-s" gap="2" className="shrink bare above-2" aria-label="People who share it">
        {people.map(({ id, name }) => (
          <Check
            key={id}
            label={name}
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) =>
              onChange([...chosen.filter((one) => one !== id), ...(checked ? [id] : [])])
            }
          />
        ))}
      </Grid>
    </details>
  );
}
