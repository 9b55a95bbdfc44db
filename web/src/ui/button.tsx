import { useMergedRef } from '@mantine/hooks';
import { type ComponentProps, type ReactNode, useLayoutEffect, useRef } from 'react';
import './button.css';

interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'primary' | 'quiet' | 'text';
  size?: 's' | 'm' | 'l';
  icon?: ReactNode;
  /** Shows a spinner, keeps the width, and takes no press until it is over. */
  loading?: boolean;
}

/** Every button of the screens. The kit's, with its loader and transitions, brings 6 kB more to the sign-in screen. */
export function Button({
  variant = 'primary',
  size = 'm',
  icon,
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
        {icon}
        {children}
      </span>
      {loading && <Spinner />}
    </button>
  );
}

/** A button that is disabled loses the focus; whoever pressed it by keyboard finds it there again, unless the focus has gone on. */
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
