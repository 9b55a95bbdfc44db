import { Menu } from '@mantine/core';
import '@mantine/core/styles/Popover.layer.css';
import '@mantine/core/styles/Menu.layer.css';
import { IconDots, type TablerIcon } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { Button } from './button.tsx';
import { useClosedByBack } from './closed-by-back.ts';
import './actions-menu.css';

export interface MenuAction {
  label: string;
  icon: TablerIcon;
  onSelect: () => void;
}

interface ActionsMenuProps {
  label?: string;
  icon?: TablerIcon;
  actions: readonly MenuAction[];
  disabled?: boolean;
  loading?: boolean;
}

/** Further actions behind one button; renders nothing without actions. */
export function ActionsMenu({
  label = 'More actions',
  icon = IconDots,
  actions,
  disabled = false,
  loading = false,
}: ActionsMenuProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  useClosedByBack(isOpen, () => {
    setIsOpen(false);
    trigger.current?.focus();
  });
  if (actions.length === 0) return null;
  return (
    <Menu
      opened={isOpen}
      onChange={setIsOpen}
      position="bottom-start"
      // Rendered inside a surrounding dialog, which traps the focus.
      withinPortal={false}
      onClose={() => trigger.current?.focus()}
      classNames={{ dropdown: 'actions-menu', item: 'actions-menu__item' }}
    >
      <Menu.Target>
        <Button ref={trigger} variant="quiet" size="s" icon={icon} stroke={2} disabled={disabled} loading={loading}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label: name, icon: Icon, onSelect }) => (
          <Menu.Item key={name} leftSection={<Icon size={18} stroke={1.7} aria-hidden="true" />} onClick={onSelect}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
