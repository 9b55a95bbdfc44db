import { TextInput } from '@mantine/core';
import { Button } from '#ui/button.tsx';

type WebsiteFieldProps = { value: string; onChange: (typed: string) => void } & ({ label: string } | { 'aria-label': string });

/** A field for a website. */
export function WebsiteField({ onChange, ...props }: WebsiteFieldProps) {
  return (
    <TextInput
      placeholder="example.com"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      required
      withAsterisk={false}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  );
}

/** A button that removes a website from a list. */
export function RemoveWebsite({ name, disabled, onRemove }: { name: string; disabled: boolean; onRemove: () => void }) {
  return (
    <Button variant="text" size="s" aria-label={`Remove ${name}`} disabled={disabled} onClick={onRemove}>
      Remove
    </Button>
  );
}
