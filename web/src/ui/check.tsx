import { Checkbox, type CheckboxProps } from '@mantine/core';
import '@mantine/core/styles/Checkbox.layer.css';
import '@mantine/core/styles/InlineInput.layer.css';

/** An unchecked box shows the page's background instead of the library's grey. */
const EMPTY_BOX = { input: { background: 'transparent', borderColor: 'var(--line-strong)' } };

/** A checkbox with its label, in the colors of the scheme. */
export function Check(props: CheckboxProps) {
  return (
    <Checkbox
      color="var(--accent)"
      iconColor="var(--accent-ink)"
      {...(props.checked === false && { styles: EMPTY_BOX })}
      {...props}
    />
  );
}
