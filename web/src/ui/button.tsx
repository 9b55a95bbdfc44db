import { useMergedRef } from '@mantine/hooks';
import type { TablerIcon } from '@tabler/icons-react';
import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import './button.css';

interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'primary' | 'danger' | 'quiet' | 'text';
  size?: 's' | 'm' | 'l';
  icon?: TablerIcon | undefined;
  /** Width of the icon's lines, in px. */
  stroke?: number;
  iconSize?: number;
  /** Shows a spinner, keeps the width and ignores presses. */
  loading?: boolean;
}

/** The button of all screens. Mantine's button with its loader and transitions would add 6 kB to the sign-in screen. */
export function Button({
  variant = 'primary',
  size = 'm',
  icon: Icon,
  stroke = 1.7,
  iconSize = size === 's' ? 16 : 18,
  loading = false,
  disabled = false,
  type = 'button',
  children,
  ref,
  ...props
}: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  useFocusKept(own, disabled || loading);
  return (
    <button
      {...props}
      ref={useMergedRef(own, ref)}
      type={type}
      className="button"
      data-variant={variant}
      data-size={size}
      data-loading={loading}
      disabled={disabled || loading}
      aria-busy={loading}
    >
      <span className="button__label">
        {Icon && <Icon size={iconSize} stroke={stroke} aria-hidden="true" />}
        {children}
      </span>
      {loading && <Spinner />}
    </button>
  );
}

/** Restores the focus that the browser drops when a button is disabled, unless the focus has moved since. */
function useFocusKept(button: { current: HTMLButtonElement | null }, isDisabled: boolean): void {
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (isDisabled) {
      hadFocus.current = document.activeElement === button.current;
    } else if (hadFocus.current) {
      hadFocus.current = false;
      if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
    }
  }, [button, isDisabled]);
}

export function Spinner() {
  return <span className="spinner" aria-hidden="true" />;
}
