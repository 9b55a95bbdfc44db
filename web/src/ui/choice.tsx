import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';

/** The native select, which phones show full screen, with the icon style of other controls. */
export function Choice(props: NativeSelectProps) {
  return (
    <NativeSelect
      {...props}
      rightSection={<IconChevronDown size={16} stroke={1.7} aria-hidden="true" />}
      rightSectionPointerEvents="none"
    />
  );
}
