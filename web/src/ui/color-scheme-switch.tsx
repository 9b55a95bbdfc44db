import { useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import './segments.css';

export const COLOR_SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const;

export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <fieldset className="segments" data-wide aria-label="Color scheme">
      {COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
        <button
          key={value}
          type="button"
          aria-pressed={colorScheme === value}
          data-chosen={colorScheme === value}
          onClick={() => setColorScheme(value)}
        >
          <Icon size={16} stroke={1.7} aria-hidden="true" />
          {label}
        </button>
      ))}
    </fieldset>
  );
}
