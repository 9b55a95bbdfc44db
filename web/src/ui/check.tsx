import { Checkbox, type CheckboxProps } from '@mantine/core';
import '@mantine/core/styles/Checkbox.layer.css';
import '@mantine/core/styles/InlineInput.layer.css';

/** A box to check next to its label, in the colors of the scheme. */
export function Check(props: CheckboxProps) {
  return <Checkbox color="var(--accent)" iconColor="var(--accent-ink)" {...props} />;
}
